// SPDX-License-Identifier: Apache-2.0
#include "scaffold/reduction.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>

#include "model/c_tokens.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/words.hpp"
#include "syntax/edit.hpp"

namespace accelopt::scaffold {
namespace {

using base::Result;
using model::Token;
using model::TokenKind;
using syntax::Extent;

/// Reading a text with its headers takes tenths of a second: more is not worth a shorter baseline.
constexpr int kMostTrials = 120;
constexpr std::chrono::seconds kLongestTrials{30};

/// Their functions have overloads or stand-ins: without the header the text might still compile and mean something
/// else.
const std::set<std::string> kKeptHeaders{"<cmath>",   "<math.h>",   "<cstdlib>",   "<stdlib.h>", "<algorithm>",
                                         "<numeric>", "<cstdint>",  "<stdint.h>",  "<cstring>",  "<string.h>",
                                         "<cstddef>", "<stddef.h>", "<stdbool.h>", "<tgmath.h>", "<complex>",
                                         "<cfloat>",  "<float.h>"};

/// Without namespaces and `extern "C"` blocks that hold nothing, their comments included.
std::string without_empty_blocks(std::string source) {
  for (bool found = true; found;) {
    found = false;
    const std::vector<Chunk> chunks = top_level_chunks(source);
    for (std::size_t i = 0; i + 1 < chunks.size() && !found; ++i) {
      found = chunks[i].kind == Chunk::Kind::opening && chunks[i + 1].kind == Chunk::Kind::closing;
      if (!found) continue;
      const std::size_t closed = chunks[i + 1].extent.end;
      const std::size_t line_end = std::min(source.find('\n', closed), source.size());
      const std::size_t next = std::min(source.find_first_not_of(" \t", closed), source.size());
      const bool ends_line = next >= line_end || source.compare(next, 2, "//") == 0;
      const std::size_t end = ends_line ? line_end : closed;
      source.erase(chunks[i].extent.begin, end - chunks[i].extent.begin);
    }
  }
  return source;
}

/// Reads the names that a declaration declares.
class DeclaredNames {
 public:
  explicit DeclaredNames(std::string_view text) : tokens_(model::c_tokens(text)) {}

  std::vector<std::string> read() {
    for (; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (token.kind == TokenKind::identifier) {
        identifier(token.text);
      } else if (token.text == "," || token.text == ";") {
        declare();
        initialized_ = false;
      } else if (token.text == "=" || (token.text == ":" && of_type_)) {
        declare();
        initialized_ = true;
      } else if (token.text == "{") {
        body();
      } else if (token.text == "(") {
        parentheses();
      } else if (token.text == "[") {
        skip("[", "]");
      } else if (token.text == "<" && !initialized_) {
        skip("<", ">");
      }
    }
    declare();
    return std::move(names_);
  }

 private:
  void identifier(const std::string& name) {
    static const std::set<std::string> kAttributes{"__attribute__", "__declspec", "alignas", "_Alignas",
                                                   "decltype",      "typeof",     "explicit"};
    if (name == "struct" || name == "class" || name == "union" || name == "enum") {
      of_type_ = true;
      last_.clear();  // "typedef"
      of_enumeration_ = of_enumeration_ || name == "enum";
    } else if (kAttributes.contains(name)) {
      of_attribute_ = true;
    } else if (name == "operator") {
      names_.push_back(name);
      last_.clear();
      at_ = tokens_.size();
    } else if (!initialized_) {
      last_ = name;
    }
  }

  void declare() {
    if (!last_.empty()) names_.push_back(last_);
    last_.clear();
  }

  /// Of a type: its tag, and of an enumeration its values.
  void body() {
    if (of_type_) declare();
    const std::size_t open = at_;
    skip("{", "}");
    for (std::size_t i = open + 1; i < at_ && of_enumeration_; ++i) {
      if (tokens_[i].kind == TokenKind::identifier && (tokens_[i - 1].text == "{" || tokens_[i - 1].text == ","))
        names_.push_back(tokens_[i].text);
    }
    of_type_ = of_enumeration_ = initialized_ = false;
  }

  /// Parameters behind a name, or the name itself: `(*name)(int)`. What a macro declares may be named in its arguments.
  void parentheses() {
    const std::size_t open = at_;
    skip("(", ")");
    if (of_attribute_ || initialized_) {
      of_attribute_ = false;
      return;
    }
    const bool of_pointer = open + 1 < at_ && (tokens_[open + 1].text == "*" || tokens_[open + 1].text == "&");
    if (of_pointer) last_.clear();
    declare();
    for (std::size_t i = open; i < at_ && (of_pointer || open == 1); ++i) {
      const bool is_name = tokens_[i].kind == TokenKind::identifier && !tokens_[i].text.starts_with("const");
      if (is_name) names_.push_back(tokens_[i].text);
      if (is_name && of_pointer) break;
    }
    initialized_ = true;
  }

  void skip(std::string_view open, std::string_view close) {
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      const std::string& text = tokens_[at_].text;
      if (text == open) ++depth;
      if (text == close) --depth;
      if (close == ">" && text == ">>") depth -= 2;
      if (depth <= 0) return;
    }
  }

  std::vector<Token> tokens_;
  std::vector<std::string> names_;
  std::string last_;
  std::size_t at_ = 0;
  bool of_type_ = false;
  bool of_enumeration_ = false;
  bool of_attribute_ = false;
  bool initialized_ = false;  ///< up to the next comma: an initializer, bases, what follows parameters
};

/// A text with some of its chunks left out.
class Reduction {
 public:
  Reduction(const syntax::Clang& clang, const syntax::Unit& unit, const std::vector<Extent>& needed)
      : clang_(clang),
        unit_(unit),
        chunks_(top_level_chunks(unit.source)),
        names_(chunks_.size()),
        owners_(chunks_.size(), chunks_.size()),
        conditions_(chunks_.size()),
        needed_(chunks_.size(), false),
        dropped_(chunks_.size(), false),
        errors_(unit.errors.size()) {
    std::vector<std::vector<std::size_t>> around;  // of each open conditional
    std::vector<std::size_t> lines;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      names_[i] = names_of(i);
      needed_[i] = chunks_[i].kind == Chunk::Kind::function && contains_one(chunks_[i], needed);
      if (needed_[i] && chunks_[i].extent.contains(needed.front())) entry_ = i;
      if (entry_ == i) entry_has_type_ = begins_with_type(i);
      for (std::size_t k = i; is_code(i) && k > 0 && (is_prefix(k - 1) || is_conditional(chunks_[k - 1])); --k) {
        if (is_prefix(k - 1)) owners_[k - 1] = i;
      }
      const bool conditional = is_conditional(chunks_[i]);
      if (conditional && chunks_[i].name.starts_with("if")) around.push_back(lines);
      if (conditional) lines.push_back(i);
      conditions_[i] = lines;
      if (chunks_[i].name != "endif" || !conditional || around.empty()) continue;
      lines = std::move(around.back());
      around.pop_back();
    }
  }

  Result<Reduced> run(const std::vector<Extent>& callers) {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      dropped_[i] = chunks_[i].kind == Chunk::Kind::function && !needed_[i] && contains_one(chunks_[i], callers);
    }
    const std::vector<bool> reached = what_is_reached();
    TRY(drop_what_can_go(candidates([&](std::size_t i) { return !is_include(i) && !reached[i]; })));
    TRY(drop_what_can_go(candidates([&](std::size_t i) { return is_function(i) && !depends_on_compiler(i); })));
    TRY(drop_unnamed());
    TRY(drop_what_can_go(candidates([&](std::size_t i) { return is_include(i); })));
    TRY(drop_unnamed());
    return Reduced{text(), stopped_};
  }

 private:
  [[nodiscard]] bool is_prefix(std::size_t i) const { return chunks_[i].kind == Chunk::Kind::prefix; }
  [[nodiscard]] bool is_include(std::size_t i) const { return chunks_[i].kind == Chunk::Kind::include; }
  [[nodiscard]] bool is_function(std::size_t i) const { return chunks_[i].kind == Chunk::Kind::function; }
  [[nodiscard]] bool is_code(std::size_t i) const {
    return is_function(i) || chunks_[i].kind == Chunk::Kind::declaration;
  }
  [[nodiscard]] bool is_undef(std::size_t i) const {
    return chunks_[i].kind == Chunk::Kind::preprocessor && chunks_[i].name == "undef";
  }
  [[nodiscard]] std::string_view text_of(std::size_t i) const { return unit_.text(chunks_[i].extent); }

  static bool contains_one(const Chunk& chunk, const std::vector<Extent>& extents) {
    return std::any_of(extents.begin(), extents.end(),
                       [&](const Extent& extent) { return chunk.extent.contains(extent); });
  }

  /// Whether nothing but attributes may be a prefix of the function: else its type is.
  [[nodiscard]] bool begins_with_type(std::size_t i) const {
    const std::vector<Token> tokens = model::c_tokens(text_of(i));
    return tokens.size() > 1 && tokens[0].kind == TokenKind::identifier && tokens[1].text != "(";
  }

  /// By which others use it.
  [[nodiscard]] std::vector<std::string> names_of(std::size_t i) const {
    if (chunks_[i].kind == Chunk::Kind::define) return {chunks_[i].name};
    if (is_undef(i)) return {words(text_of(i)).back().text};
    if (!is_code(i)) return {};
    std::vector<std::string> names = names_declared_by(text_of(i));
    for (const syntax::Function& function : unit_.functions) {
      if (is_function(i) && chunks_[i].extent.contains(function.body)) names.push_back(function.name);
    }
    return names;
  }

  [[nodiscard]] bool may_go(std::size_t i) const {
    const std::string_view text = text_of(i);
    if (is_include(i)) return !kKeptHeaders.contains(chunks_[i].name);
    if (is_function(i)) return !needed_[i];
    if (chunks_[i].kind != Chunk::Kind::declaration) return chunks_[i].kind == Chunk::Kind::define || is_undef(i);
    return !text.starts_with("using ") || text.find('=') != std::string_view::npos;
  }

  /// Those that may go, stand there still, and are meant; from the last to the first.
  template <class Predicate>
  std::vector<std::size_t> candidates(const Predicate& meant) const {
    std::vector<std::size_t> found;
    for (std::size_t i = chunks_.size(); i-- > 0;) {
      if (!dropped_[i] && may_go(i) && meant(i)) found.push_back(i);
    }
    return found;
  }

  /// Whether another compiler than libclang may be given it.
  [[nodiscard]] bool depends_on_compiler(std::size_t i) const {
    return std::any_of(conditions_[i].begin(), conditions_[i].end(), [&](std::size_t line) {
      return has_word(text_of(line), "__clang__") || has_word(text_of(line), "__GNUC__");
    });
  }

  /// By name: what the needed functions use, what this uses in turn, and what decides whether these are compiled.
  [[nodiscard]] std::vector<bool> what_is_reached() const {
    std::map<std::string, std::vector<std::size_t>> declared;
    std::vector<std::size_t> operators;
    std::vector<bool> reached(chunks_.size(), false);
    std::vector<std::size_t> open;
    const auto reach = [&](std::size_t i) {
      if (!reached[i] && !dropped_[i]) open.push_back(i);
      reached[i] = true;
    };
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      for (const std::string& name : names_[i]) declared[name].push_back(i);
      if (std::count(names_[i].begin(), names_[i].end(), "operator") > 0) operators.push_back(i);
      const bool stays = !may_go(i) || is_include(i);
      if (stays && !is_prefix(i) && !is_conditional(chunks_[i])) reach(i);
    }
    std::set<std::string> used;
    const auto take = [&](std::size_t i) {
      for (const Word& word : words(text_of(i))) used.insert(word.text);
    };
    const auto uses_reached_type = [&](std::size_t i) {
      const std::vector<Word> all = words(text_of(i).substr(0, text_of(i).find_first_of("{;")));
      return std::any_of(all.begin(), all.end(), [&](const Word& word) {
        const auto found = declared.find(word.text);
        return word.text != "operator" && found != declared.end() &&
               std::any_of(found->second.begin(), found->second.end(), [&](std::size_t k) { return reached[k]; });
      });
    };
    while (!open.empty()) {
      while (!open.empty()) {
        const std::size_t i = open.back();
        open.pop_back();
        used.clear();
        take(i);
        for (const std::size_t line : conditions_[i]) take(line);
        for (std::size_t k = i; k > 0 && (is_prefix(k - 1) || is_conditional(chunks_[k - 1])); --k) take(k - 1);
        for (const std::string& name : used) {
          for (const std::size_t other : declared[name]) reach(other);
        }
      }
      for (const std::size_t i : operators) {
        if (!reached[i] && uses_reached_type(i)) reach(i);
      }
    }
    return reached;
  }

  /// Declarations and macros whose names nothing that stands there still uses.
  Result<void> drop_unnamed() {
    std::map<std::string, std::size_t> uses;
    for (const Word& word : words(text())) ++uses[word.text];
    return drop_what_can_go(candidates([&](std::size_t i) {
      if (is_include(i) || is_function(i)) return false;
      std::map<std::string, std::size_t> own;
      for (const Word& word : words(text_of(i))) ++own[word.text];
      return std::all_of(names_[i].begin(), names_[i].end(),
                         [&](const std::string& name) { return uses[name] <= own[name]; });
    }));
  }

  /// What is not there: what was dropped, prefixes of it, the entry's attributes in prefixes, and conditionals that
  /// hold nothing else.
  [[nodiscard]] std::vector<bool> all_gone() const {
    std::vector<bool> gone = dropped_;
    std::vector<std::size_t> rest;    // without blocks that hold nothing
    std::vector<std::size_t> begins;  // of open conditionals, in the rest
    const auto leave_out = [&](std::size_t begin) {
      for (std::size_t k = rest[begin]; k <= rest.back(); ++k) gone[k] = true;
      rest.resize(begin);
    };
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const std::size_t owner = owners_[i];
      gone[i] = gone[i] || (owner < chunks_.size() && (dropped_[owner] || (owner == entry_ && entry_has_type_)));
      if (gone[i]) continue;
      const bool conditional = is_conditional(chunks_[i]);
      if (conditional && chunks_[i].name.starts_with("if")) begins.push_back(rest.size());
      const bool closes = chunks_[i].kind == Chunk::Kind::closing;
      if (closes && !rest.empty() && chunks_[rest.back()].kind == Chunk::Kind::opening) {
        rest.pop_back();
        continue;
      }
      rest.push_back(i);
      if (!conditional || chunks_[i].name != "endif" || begins.empty()) continue;
      const std::size_t begin = begins.back();
      begins.pop_back();
      const bool empty = std::all_of(rest.begin() + static_cast<std::ptrdiff_t>(begin), rest.end(),
                                     [&](std::size_t k) { return is_conditional(chunks_[k]); });
      if (empty) {
        leave_out(begin);
      } else if (ends_with_empty_linkage(rest)) {
        leave_out(rest.size() - 6);
      }
    }
    return gone;
  }

  /// `extern "C" {` and `}`, each within a conditional, with nothing between them.
  [[nodiscard]] bool ends_with_empty_linkage(const std::vector<std::size_t>& rest) const {
    if (rest.size() < 6) return false;
    const std::size_t at = rest.size() - 6;
    const auto kind = [&](std::size_t k) { return chunks_[rest[at + k]].kind; };
    return chunks_[rest[at]].name.starts_with("if") && kind(1) == Chunk::Kind::opening &&
           chunks_[rest[at + 2]].name == "endif" && chunks_[rest[at + 3]].name.starts_with("if") &&
           kind(4) == Chunk::Kind::closing;
  }

  [[nodiscard]] std::string text() const {
    syntax::Edits edits;
    // What stands above everything is about the whole file, unless the file begins with the function.
    if (!chunks_.empty() && !is_function(0)) edits.replace({0, chunks_[0].extent.begin}, "");
    const std::vector<bool> gone = all_gone();
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      if (gone[i]) edits.replace(with_comments(i), "");
    }
    std::string kept = without_empty_blocks(edits.apply(unit_.source).value_or(unit_.source));
    for (std::size_t at = 0; (at = kept.find("\n\n\n", at)) != std::string::npos;) kept.erase(at, 1);
    kept.erase(0, kept.find_first_not_of("\r\n"));
    return kept;
  }

  /// What goes, goes with the comments right above it; but those above a prefix of the entry are the entry's.
  [[nodiscard]] Extent with_comments(std::size_t i) const {
    Extent extent = chunks_[i].extent;
    if (i == 0 || is_include(i) || is_prefix(i)) return extent;
    const bool opens = is_conditional(chunks_[i]) && chunks_[i].name.starts_with("if");
    for (std::size_t k = i + 1; opens && k < chunks_.size() && conditions_[k].size() >= conditions_[i].size(); ++k) {
      if (owners_[k] == entry_) return extent;
    }
    const std::string& source = unit_.source;
    std::size_t line = source.find('\n', chunks_[i - 1].extent.end);
    const std::size_t comment = source.find("/*", chunks_[i - 1].extent.end);
    if (comment < line) line = source.find('\n', source.find("*/", comment + 2));  // it began on the line before
    if (line < extent.begin) extent.begin = line + 1;
    // And with one behind it on its last line.
    const std::string_view rest =
        std::string_view(source).substr(extent.end, source.find('\n', extent.end) - extent.end);
    const std::size_t first = std::min(rest.find_first_not_of(" \t"), rest.size());
    const bool whole = rest.substr(first).starts_with("//") ||
                       (rest.substr(first).starts_with("/*") && rest.find("*/") == rest.find_last_not_of(" \t") - 1);
    if (whole) extent.end += rest.size();
    return extent;
  }

  Result<bool> try_without(std::span<const std::size_t> some) {
    const std::vector<bool> before = dropped_;
    for (const std::size_t i : some) dropped_[i] = true;
    ++trials_;
    TRY_ASSIGN(const std::size_t errors, count_errors(clang_, text(), unit_.language));
    if (errors <= errors_) {
      errors_ = errors;
      return true;
    }
    dropped_ = before;
    return false;
  }

  /// All at once where that works; else half by half, down to those that are needed.
  Result<void> drop_what_can_go(std::span<const std::size_t> some) {
    if (some.empty()) return {};
    stopped_ = stopped_ || trials_ >= kMostTrials || std::chrono::steady_clock::now() > end_;
    if (stopped_) return {};
    TRY_ASSIGN(const bool done, try_without(some));
    if (done || some.size() == 1) return {};
    TRY(drop_what_can_go(some.first(some.size() / 2)));
    return drop_what_can_go(some.subspan(some.size() / 2));
  }

  const syntax::Clang& clang_;
  const syntax::Unit& unit_;
  std::vector<Chunk> chunks_;
  std::vector<std::vector<std::string>> names_;
  std::vector<std::size_t> owners_;                   ///< of a prefix: the code that it is about; else none
  std::vector<std::vector<std::size_t>> conditions_;  ///< the conditional lines that decide about a chunk
  std::vector<bool> needed_;
  std::vector<bool> dropped_;
  std::size_t errors_;
  std::size_t entry_ = std::string::npos;
  bool entry_has_type_ = true;  ///< with no prefix
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kLongestTrials;
  int trials_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::vector<std::string> names_declared_by(std::string_view text) {
  return DeclaredNames(text).read();
}

Result<Reduced> reduced(const syntax::Clang& clang, const syntax::Unit& unit, const std::vector<Extent>& needed,
                        const std::vector<Extent>& callers) {
  return Reduction(clang, unit, needed).run(callers);
}

}  // namespace accelopt::scaffold
