// SPDX-License-Identifier: Apache-2.0
#include "scaffold/class_scope.hpp"

#include <algorithm>
#include <vector>

#include "model/c_tokens.hpp"
#include "scaffold/extract.hpp"
#include "syntax/edit.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using model::Token;
using syntax::Extent;

/// `class Name ... { body };` in a text.
struct ClassText {
  Extent whole;
  Extent body;  ///< between the braces
};

std::optional<ClassText> find_class(const std::string& source, const std::string& name) {
  const std::vector<Token> tokens = model::c_tokens(source);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != "class" && tokens[i].text != "struct") continue;
    if (i > 0 && (tokens[i - 1].text == "enum" || tokens[i - 1].text == ">")) continue;
    std::size_t at = i + 1;
    bool named = false;
    for (; at < tokens.size() && tokens[at].text != "{" && tokens[at].text != ";" && tokens[at].text != "("; ++at) {
      named = named || (tokens[at].text == name && (at + 1 == tokens.size() || tokens[at + 1].text != "::"));
      if (tokens[at].text == ":" && !named) break;
    }
    if (!named || at == tokens.size() || tokens[at].text != "{") continue;
    const std::size_t open = at;
    int depth = 0;
    for (; at < tokens.size(); ++at) {
      if (tokens[at].text == "{") ++depth;
      if (tokens[at].text == "}" && --depth == 0) break;
    }
    if (at + 1 >= tokens.size() || tokens[at + 1].text != ";") continue;
    return ClassText{{tokens[i].offset, tokens[at + 1].offset + 1}, {tokens[open].offset + 1, tokens[at].offset}};
  }
  return std::nullopt;
}

/// The class's body without `public:` and the like.
std::string without_access_labels(std::string body) {
  const std::vector<Token> tokens = model::c_tokens(body);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if ((text != "public" && text != "private" && text != "protected") || tokens[i + 1].text != ":") continue;
    for (std::size_t at = tokens[i].offset; at <= tokens[i + 1].offset; ++at) body[at] = ' ';
  }
  return body;
}

/// Whether a member means the same in a namespace.
bool belongs_to_the_class(std::string_view text) {
  for (const Token& token : model::c_tokens(text)) {
    const std::string& word = token.text;
    if (word == "static" || word == "using" || word == "typedef" || word == "enum" || word == "struct" ||
        word == "class" || word == "static_assert") {
      return true;
    }
    if (word != "inline" && word != "constexpr" && word != "[" && word != "]" && word != "nodiscard" &&
        word != "maybe_unused" && word != "const") {
      return false;
    }
  }
  return false;
}

/// The function's own text goes last.
std::string as_namespace(const std::string& name, const std::string& body, const std::string& function) {
  std::string declarations;
  std::string functions;
  std::string last;
  std::size_t previous = 0;
  for (const Chunk& chunk : top_level_chunks(body)) {
    const std::string text = body.substr(chunk.extent.begin, chunk.extent.size());
    const std::size_t line = body.find_first_not_of(" \t\r\n", previous);
    const std::string with_comments = body.substr(line, chunk.extent.end - line) + "\n";
    previous = chunk.extent.end;
    const bool is_code = chunk.kind == Chunk::Kind::function || chunk.kind == Chunk::Kind::declaration;
    if (is_code && !belongs_to_the_class(text)) continue;
    if (chunk.kind != Chunk::Kind::function) {
      declarations += with_comments;
    } else {
      (text.find(" " + function + "(") == std::string::npos ? functions : last) += with_comments;
    }
  }
  return "namespace " + name + " {\n" + declarations + functions + last + "}  // namespace " + name;
}

}  // namespace

Result<std::string> with_classes_as_namespaces(const syntax::Unit& unit, const syntax::Function& member) {
  std::string source = unit.source;
  // From the inside out: the names of classes come last in the scope.
  std::string scope = member.scope;
  bool found_one = false;
  while (!scope.empty()) {
    scope.erase(scope.size() - 2);
    const std::size_t colon = scope.rfind("::");
    const std::string name = scope.substr(colon == std::string::npos ? 0 : colon + 2);
    scope.erase(colon == std::string::npos ? 0 : colon + 2);
    const std::optional<ClassText> found = find_class(source, name);
    if (!found) break;
    found_one = true;
    const std::string body =
        without_access_labels(source.substr(found->body.begin, found->body.end - found->body.begin));
    source.replace(found->whole.begin, found->whole.size(), as_namespace(name, body, member.name));
  }
  if (!found_one) {
    return fail(ErrorCode::unsupported, member.qualified_name() +
                                            " is a member of a class that this file does not define in full; give its "
                                            "work to a plain function, and name that one");
  }
  return source;
}

}  // namespace accelopt::scaffold
