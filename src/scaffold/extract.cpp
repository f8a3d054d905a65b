// SPDX-License-Identifier: Apache-2.0
#include "scaffold/extract.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include "base/text.hpp"
#include "model/c_tokens.hpp"
#include "scaffold/class_scope.hpp"
#include "scaffold/inlined_headers.hpp"
#include "scaffold/reduction.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using model::Token;
using model::TokenKind;
using syntax::Extent;

/// Splits the token stream of a file into chunks.
class Splitter {
 public:
  explicit Splitter(const std::string& source) : source_(source), tokens_(model::c_tokens(source)) {}

  std::vector<Chunk> run() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (token.kind == TokenKind::directive) continue;
      if (token.kind == TokenKind::preprocessor) {
        preprocessor(token);
      } else if (token.text == "}") {
        if (!openings_.empty()) openings_.pop_back();
        add(Chunk::Kind::closing, token.offset, token.offset + 1);
      } else if (const std::size_t brace = opening(); brace != 0) {
        add(Chunk::Kind::opening, token.offset, tokens_[brace].offset + 1);
        openings_.push_back(source_.substr(token.offset, tokens_[brace].offset + 1 - token.offset));
        at_ = brace;
      } else {
        declaration();
      }
    }
    return std::move(chunks_);
  }

 private:
  void add(Chunk::Kind kind, std::size_t begin, std::size_t end, std::string name = "") {
    std::string scope;
    for (const std::string& opening : openings_) scope += opening;
    chunks_.push_back({kind, {begin, end}, std::move(name), std::move(scope)});
  }

  void preprocessor(const Token& token) {
    const std::size_t word = token.text.find_first_not_of("# ");
    const std::string_view rest = std::string_view(token.text).substr(std::min(word, token.text.size()));
    if (rest.starts_with("include")) {
      const std::size_t name = rest.find_first_of("<\"");
      return add(Chunk::Kind::include, token.offset, token.end,
                 name == std::string_view::npos ? "" : std::string(rest.substr(name)));
    }
    if (rest.starts_with("define ")) {
      const std::string_view name = rest.substr(7);
      return add(Chunk::Kind::define, token.offset, token.end, std::string(name.substr(0, name.find_first_of(" ("))));
    }
    const std::size_t word_end = std::min(rest.find_first_of(" (!"), rest.size());
    add(Chunk::Kind::preprocessor, token.offset, token.end, std::string(rest.substr(0, word_end)));
  }

  /// Index of the `{` of `namespace a::b {`, `inline namespace {` or `extern "C" {` that begins here; 0: none does.
  std::size_t opening() const {
    std::size_t next = at_;
    if (tokens_[next].text == "inline" && next + 1 < tokens_.size()) ++next;
    if (tokens_[next].text == "extern" && next + 2 < tokens_.size() && tokens_[next + 1].kind == TokenKind::string) {
      return tokens_[next + 2].text == "{" ? next + 2 : 0;
    }
    if (tokens_[next].text != "namespace") return 0;
    for (++next; next < tokens_.size(); ++next) {
      if (tokens_[next].text == "{") return next;
      if (tokens_[next].text == "=" || tokens_[next].text == ";") return 0;
    }
    return 0;
  }

  void declaration() {
    const std::size_t begin = tokens_[at_].offset;
    int depth = 0;
    bool called = false;    // a parameter list at depth 0: a function if a body follows
    bool assigned = false;  // an initializer: braces do not end it
    int conditionals = 0;   // open ones that began here
    for (; at_ < tokens_.size(); ++at_) {
      const std::string& text = tokens_[at_].text;
      if (tokens_[at_].kind == TokenKind::preprocessor) {
        const std::size_t word = std::min(text.find_first_not_of("# "), text.size());
        const std::string_view rest = std::string_view(text).substr(word);
        if (conditionals == 0 && depth == 0 && (rest.starts_with("el") || rest.starts_with("endif"))) {
          return prefix(begin);
        }
        conditionals += rest.starts_with("if") ? 1 : rest.starts_with("endif") ? -1 : 0;
        continue;
      }
      if (depth == 0 && text == "=" && (at_ == 0 || tokens_[at_ - 1].text != "operator")) assigned = true;
      if (text == "(" || text == "[" || text == "{") {
        if (depth == 0 && text == "(") called = true;
        ++depth;
      } else if (text == ")" || text == "]" || text == "}") {
        --depth;
        const bool body_ends = depth == 0 && text == "}" && called && !assigned;
        if (body_ends || depth < 0) return add(Chunk::Kind::function, begin, tokens_[at_].offset + 1);
      } else if (text == ";" && depth == 0) {
        return add(Chunk::Kind::declaration, begin, tokens_[at_].offset + 1);
      }
    }
    add(Chunk::Kind::declaration, begin, source_.size());
  }

  /// What has begun belongs to a conditional that ends here, before the definition that it is about.
  void prefix(std::size_t begin) {
    const Token& last = tokens_[--at_];
    add(Chunk::Kind::prefix, begin, last.offset + last.text.size());
  }

  const std::string& source_;
  std::vector<Token> tokens_;
  std::vector<Chunk> chunks_;
  std::vector<std::string> openings_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Chunk> top_level_chunks(const std::string& source) {
  return Splitter(source).run();
}

bool is_conditional(const Chunk& chunk) {
  return chunk.kind == Chunk::Kind::preprocessor &&
         (chunk.name.starts_with("if") || chunk.name.starts_with("el") || chunk.name == "endif");
}

std::size_t begin_with_prefixes(const std::vector<Chunk>& chunks, std::size_t index) {
  std::size_t begin = chunks[index].extent.begin;
  int depth = 0;
  bool found = false;
  for (std::size_t i = index; i-- > 0;) {
    const Chunk& chunk = chunks[i];
    found = found || chunk.kind == Chunk::Kind::prefix;
    if (chunk.kind == Chunk::Kind::prefix) continue;
    if (!is_conditional(chunk)) break;
    if (chunk.name == "endif") ++depth;
    if (chunk.name.starts_with("if")) --depth;
    if (depth < 0) break;
    if (depth == 0 && found) begin = chunk.extent.begin;
    if (depth == 0) found = false;
  }
  return begin;
}

Result<syntax::Unit> read_unit(const syntax::Clang& clang, const std::string& source, model::Language language,
                               const std::vector<syntax::HeaderFile>& headers) {
  return syntax::parse(clang, {source, language, headers, {"-ferror-limit=0"}});
}

Result<syntax::Unit> read_user_file(const syntax::Clang& clang, const std::string& source, model::Language language,
                                    const HeaderFolders& folders) {
  // Not by -include: beside a header on disk may lie what another compiler made of it (.gch).
  return syntax::parse(clang, {source, language, {}, reading_arguments(folders), included_lines(folders)});
}

Result<std::size_t> count_errors(const syntax::Clang& clang, const std::string& source, model::Language language,
                                 const std::vector<syntax::HeaderFile>& headers) {
  TRY_ASSIGN(const syntax::Unit unit, read_unit(clang, source, language, headers));
  return unit.errors.size();
}

namespace {

/// The parts of "a::b::f".
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t colons = name.find("::", at);
    const std::string part = name.substr(at, colons - at);
    if (!part.empty()) parts.push_back(part);
    if (colons == std::string::npos) return parts;
    at = colons + 2;
  }
}

/// Whether a function of the qualified name may be called by `given`, which may leave out namespaces.
bool may_be_called(const std::string& qualified, const std::string& given) {
  const std::vector<std::string> own = parts_of(qualified);
  const std::vector<std::string> wanted = parts_of(given);
  if (wanted.empty() || own.back() != wanted.back()) return false;
  std::size_t found = 0;
  for (const std::string& part : own) {
    if (found < wanted.size() && part == wanted[found]) ++found;
  }
  return found == wanted.size();
}

std::string with_line(const syntax::Unit& unit, const syntax::Function& function) {
  const auto end = unit.source.begin() + static_cast<std::ptrdiff_t>(function.extent.begin);
  return function.qualified_name() + " (line " + std::to_string(std::count(unit.source.begin(), end, '\n') + 1) + ")";
}

/// Those that `given` may mean; one whose whole name it is goes before all others.
std::vector<const syntax::Function*> candidates(const syntax::Unit& unit, const std::string& given) {
  const std::string whole = given.starts_with("::") ? given.substr(2) : given;
  std::vector<const syntax::Function*> found;
  std::vector<const syntax::Function*> exact;
  for (const auto* functions : {&unit.functions, &unit.members}) {
    for (const syntax::Function& candidate : *functions) {
      if (candidate.qualified_name() == whole) exact.push_back(&candidate);
      if (may_be_called(candidate.qualified_name(), given)) found.push_back(&candidate);
    }
  }
  return exact.empty() ? found : exact;
}

}  // namespace

Result<const syntax::Function*> find_function(const syntax::Unit& unit, const std::string& function) {
  const std::vector<const syntax::Function*> found = candidates(unit, function);
  if (found.empty()) {
    std::string defined =
        base::joined(unit.functions, ", ", [&](const syntax::Function& one) { return one.qualified_name(); });
    for (const syntax::Function& one : unit.members) {
      if (one.kind == syntax::FunctionKind::static_member) {
        defined += (defined.empty() ? "" : ", ") + one.qualified_name();
      }
    }
    if (defined.empty() && !unit.errors.empty()) {
      return fail(ErrorCode::not_found,
                  "the file defines no function " + function +
                      " that could be read, and no other; the first error in it: " + unit.errors.front().message);
    }
    return fail(ErrorCode::not_found,
                "the file defines no function " + function + "; it defines " + (defined.empty() ? "none" : defined));
  }
  if (found.size() > 1) {
    std::string all;
    bool overloaded = false;
    for (const syntax::Function* one : found) {
      all += (all.empty() ? "" : ", ") + with_line(unit, *one);
      overloaded = overloaded || (one != found.front() && one->qualified_name() == found.front()->qualified_name());
    }
    return fail(ErrorCode::unsupported,
                "the file defines " + function + " more than once: " + all +
                    (overloaded ? "; give the one to optimize a name of its own" : "; name one of them in full"));
  }
  const syntax::Function& one = *found.front();
  if (one.kind == syntax::FunctionKind::member) {
    return fail(ErrorCode::unsupported, one.qualified_name() +
                                            " is a member that is not static; give the work to a plain function or a "
                                            "static member, and name that one");
  }
  if (unit.text(one.extent).starts_with("template")) {
    return fail(ErrorCode::unsupported,
                function + " is a template; write a plain function with the types that matter, and name that one");
  }
  return &one;
}

namespace {

/// Bodies of the file's functions: those that the entry needs, its own first, and those that call it.
struct CallGraph {
  std::vector<Extent> needed;
  std::vector<Extent> callers;
};

/// Whether it names the function, and not only a variable of the same name.
bool uses(const syntax::Function& function, const std::string& name) {
  const bool is_called = std::find(function.helpers.begin(), function.helpers.end(), name) != function.helpers.end();
  return std::any_of(function.names.begin(), function.names.end(), [&](const syntax::NameUse& use) {
    // What another file declares has no place here, and helpers leave out functions of the function's own name.
    return use.name == name && (is_called || use.declaration < 0 || name == function.name);
  });
}

/// Whether it stands for the function that the entry calls by this name.
bool calls_entry(const syntax::Function& function, const syntax::Function& entry,
                 const std::set<std::int64_t>& declarations) {
  return std::any_of(function.names.begin(), function.names.end(), [&](const syntax::NameUse& use) {
    return use.name == entry.name && declarations.contains(use.declaration);
  });
}

Result<CallGraph> call_graph(const syntax::Unit& unit, const syntax::Function& entry) {
  std::set<std::int64_t> declarations;  // of the entry, as its callers see it: its definition, or a prototype
  std::set<std::int64_t> others;
  for (const syntax::Function& one : unit.functions) {
    if (&one == &entry || one.name != entry.name) continue;
    for (std::size_t at = one.extent.begin; at < one.body.begin; ++at) others.insert(static_cast<std::int64_t>(at));
  }
  for (const syntax::Function& one : unit.functions) {
    for (const syntax::NameUse& use : one.names) {
      if (use.name == entry.name && use.declaration >= 0 && !others.contains(use.declaration)) {
        declarations.insert(use.declaration);
      }
    }
  }
  CallGraph graph{{entry.body}, {}};
  std::vector<const syntax::Function*> open{&entry};
  std::set<const syntax::Function*> seen{&entry};
  while (!open.empty()) {
    const syntax::Function& current = *open.back();
    open.pop_back();
    if (calls_entry(current, entry, declarations)) {
      return fail(ErrorCode::unsupported, entry.qualified_name() +
                                              " is called by itself or by what it calls; give the loops to optimize a "
                                              "function of their own, and name that one");
    }
    for (const syntax::Function& one : unit.functions) {
      if (!uses(current, one.name) || !seen.insert(&one).second) continue;
      graph.needed.push_back(one.body);
      open.push_back(&one);
    }
  }
  for (const syntax::Function& one : unit.functions) {
    if (!seen.contains(&one) && calls_entry(one, entry, declarations)) graph.callers.push_back(one.body);
  }
  return graph;
}

/// An attribute of the function by which the compiler makes other code of it. Empty: none.
std::string left_out_attribute(const syntax::Unit& unit, const syntax::Function& function) {
  const std::vector<Chunk> chunks = top_level_chunks(unit.source);
  const auto own = std::find_if(chunks.begin(), chunks.end(),
                                [&](const Chunk& chunk) { return chunk.extent.contains(function.body); });
  if (own == chunks.end()) return "";
  const std::size_t begin = begin_with_prefixes(chunks, static_cast<std::size_t>(own - chunks.begin()));
  const std::string head = unit.source.substr(begin, function.body.begin - begin);
  const std::size_t attribute = std::min(head.find("__attribute__"), head.find("[["));
  const bool decides = has_word(head, "optimize") || has_word(head, "target") || has_word(head, "target_clones");
  if (attribute == std::string::npos || !decides) return "";
  int depth = 0;
  std::size_t end = head.find_first_of("([", attribute);
  for (; end < head.size(); ++end) {
    if (head[end] == '(' || head[end] == '[') ++depth;
    if ((head[end] == ')' || head[end] == ']') && --depth == 0) break;
  }
  return head.substr(attribute, std::min(end + 1, head.size()) - attribute);
}

/// A macro of the compiler in a conditional of the text, by which the processor or the standard decides. Empty: none.
std::string open_macro(const std::string& source) {
  static const std::set<std::string> kOthers{"__FMA__", "__F16C__", "__OPTIMIZE__", "__FAST_MATH__"};
  for (const Chunk& chunk : top_level_chunks(source)) {
    if (chunk.kind == Chunk::Kind::include) continue;
    for (const Token& token :
         model::c_tokens(std::string_view(source).substr(chunk.extent.begin, chunk.extent.size()))) {
      const std::size_t word = token.text.find_first_not_of("# ");
      if (token.kind != TokenKind::preprocessor || word == std::string::npos) continue;
      const std::string_view line = std::string_view(token.text).substr(word);
      if (!line.starts_with("if") && !line.starts_with("elif")) continue;
      const bool compares = line.find_first_of("<>") != std::string_view::npos;
      for (const Word& name : words(line)) {
        if (compares && (name.text == "__cplusplus" || name.text == "__STDC_VERSION__")) return name.text;
        if (kOthers.contains(name.text) || name.text.starts_with("__AVX") || name.text.starts_with("__SSE") ||
            name.text.starts_with("__ARM_")) {
          return name.text;
        }
      }
    }
  }
  return "";
}

/// Which headers were not found, and what says where they are. Empty: all were.
std::string missing_headers(const syntax::Unit& unit) {
  static const std::regex kMissing("'([^']*)' file not found");
  std::vector<std::string> names;
  for (const syntax::Diagnostic& error : unit.errors) {
    std::smatch found;
    if (std::regex_search(error.message, found, kMissing)) names.push_back(found[1]);
  }
  if (names.empty()) return "";
  return "the file includes a header that is not found (" + base::joined(names, ", ") +
         "): let your build write a compile_commands.json with its -I (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or "
         "bear -- make)";
}

}  // namespace

Result<Extract> extract_function(const syntax::Clang& clang, const std::string& source, model::Language language,
                                 const std::string& function, const HeaderFolders& folders) {
  std::string whole = with_macros(with_headers(clang, source, language, folders), folders);
  TRY_ASSIGN(const syntax::Unit original, read_unit(clang, whole, language));
  const std::string missing = missing_headers(original);
  const auto defined = find_function(original, function);
  if (!defined && !missing.empty()) return fail(defined.error().code, defined.error().message + "\n" + missing);
  if (!defined && defined.error().code == ErrorCode::not_found && !folders.macros.empty()) {
    return fail(ErrorCode::not_found, defined.error().message + " (as your build compiles it, with " +
                                          base::joined(folders.macros, " ") + ")");
  }
  TRY_ASSIGN(const syntax::Function* const named, defined);
  const std::string name = named->qualified_name();
  const bool is_member = named->kind == syntax::FunctionKind::static_member;
  std::optional<syntax::Unit> changed;
  if (is_member) {
    TRY_ASSIGN(whole, with_classes_as_namespaces(original, *named));
    TRY_ASSIGN(changed, read_unit(clang, whole, language));
  }
  const syntax::Unit& unit = changed ? *changed : original;
  TRY_ASSIGN(const syntax::Function* const entry, find_function(unit, name));
  TRY_ASSIGN(const CallGraph graph, call_graph(unit, *entry));
  TRY_ASSIGN(Reduced kept, reduced(clang, unit, graph.needed, graph.callers));
  Extract result{std::move(kept.source), name, {}, missing};
  if (kept.stopped) {
    result.notes.push_back("the file is too large to try what " + name +
                           " does not need; delete from baseline and reference what they do not use");
  }
  if (const std::string attribute = left_out_attribute(unit, *entry); !attribute.empty()) {
    result.notes.push_back(name + " has " + attribute +
                           ", which baseline and reference leave out; say in //@ flags what kernels need of it");
  }
  if (!folders.not_read.empty()) {
    result.notes.push_back("of your build's options, not read: " + base::joined(folders.not_read, " ") +
                           "; look whether baseline and reference are what your build compiles");
  }
  if (const std::string macro = open_macro(result.source); !macro.empty()) {
    result.notes.push_back("the code depends on " + macro + ", which accelopt's compiler (-march=native, " +
                           (language == model::Language::c ? "gnu17" : "gnu++20") +
                           ") may answer otherwise than your build; keep the branch that you mean in baseline and "
                           "reference");
  }
  if (!missing.empty())
    result.notes.push_back(missing +
                           "; else what the function uses of it has to be written into baseline and reference");
  return result;
}

}  // namespace accelopt::scaffold
