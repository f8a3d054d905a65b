// SPDX-License-Identifier: Apache-2.0
#include "scaffold/reach.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "scaffold/extract.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

/// Whether the use is of this definition: by its place, or by its name where a prototype stands in between.
bool is_use_of(const syntax::NameUse& use, const syntax::Function& function, const syntax::Unit& unit) {
  const auto is_in = [&](const syntax::Function& one) {
    return use.declaration >= static_cast<std::int64_t>(one.extent.begin) &&
           use.declaration < static_cast<std::int64_t>(one.body.begin);
  };
  if (is_in(function)) return true;
  return use.name == function.name && std::ranges::none_of(unit.functions, is_in);
}

/// What a declaration or macro may declare, without prototypes: the names outside of its braces, and before its value.
std::set<std::string> declared_names(const Chunk& chunk, const std::string& text) {
  if (chunk.kind == Chunk::Kind::define) return {chunk.name};
  const std::size_t brace = text.find_first_of("{=");
  const std::size_t closed = text.rfind('}');
  std::string head = text.substr(0, brace);
  // A prototype, perhaps of another meaning of the name: what it names, the definition names too.
  if (head.find('(') != std::string::npos && !head.starts_with("typedef") && !head.starts_with("using")) return {};
  if (brace != std::string::npos && closed != std::string::npos && closed > brace) head += " " + text.substr(closed);
  if (text.starts_with("enum")) head = text;
  std::set<std::string> names;
  for (const Word& word : words(head)) names.insert(word.text);
  return names;
}

class Reach {
 public:
  Reach(const syntax::Unit& unit, const syntax::Function& function) : unit_(unit) { add(function); }

  std::string text() {
    const std::vector<Chunk> chunks = top_level_chunks(unit_.source);
    std::vector<bool> taken(chunks.size(), false);
    for (bool found = true; found;) {
      found = false;
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (taken[i] || (chunks[i].kind != Chunk::Kind::declaration && chunks[i].kind != Chunk::Kind::define)) continue;
        const std::string own(unit_.text(chunks[i].extent));
        const auto names = declared_names(chunks[i], own);
        if (std::ranges::none_of(names, [&](const std::string& name) { return is_named(name); })) continue;
        taken[i] = found = true;
        take(own);
      }
    }
    return text_;
  }

 private:
  void add(const syntax::Function& function) {
    if (!functions_.insert(&function).second) return;
    take(std::string(unit_.text(function.extent)));
    for (const syntax::NameUse& use : function.names) {
      for (const syntax::Function& other : unit_.functions) {
        if (is_use_of(use, other, unit_)) add(other);
      }
    }
  }

  void take(const std::string& text) {
    text_ += text + "\n";
    for (const Word& word : words(text)) named_.insert(word.text);
  }

  /// Names of the language stand everywhere and connect nothing.
  [[nodiscard]] bool is_named(const std::string& name) const {
    static const std::set<std::string> kOfTheLanguage{
        "alignas", "auto",    "bool",     "char",  "class",    "const", "constexpr", "double",  "enum",
        "extern",  "float",   "inline",   "int",   "long",     "short", "signed",    "static",  "static_assert",
        "struct",  "typedef", "typename", "union", "unsigned", "using", "void",      "volatile"};
    return !kOfTheLanguage.contains(name) && named_.contains(name);
  }

  const syntax::Unit& unit_;
  std::set<const syntax::Function*> functions_;
  std::set<std::string> named_;
  std::string text_;
};

}  // namespace

std::string reached_text(const syntax::Unit& unit, const syntax::Function& function) {
  return Reach(unit, function).text();
}

}  // namespace accelopt::scaffold
