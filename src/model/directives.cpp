// SPDX-License-Identifier: Apache-2.0
#include "model/directives.hpp"

#include <algorithm>

#include "base/expression.hpp"
#include "model/c_tokens.hpp"

namespace accelopt::model {

const std::vector<std::string_view>& allowed_flags() {
  // Code generation only: nothing that reads or writes files, loads plug-ins, changes the language, the ABI or the
  // link.
  static const std::vector<std::string_view> flags{"-ffast-math",
                                                   "-fno-math-errno",
                                                   "-ffinite-math-only",
                                                   "-fno-signed-zeros",
                                                   "-fno-trapping-math",
                                                   "-fassociative-math",
                                                   "-freciprocal-math",
                                                   "-funsafe-math-optimizations",
                                                   "-fno-rounding-math",
                                                   "-fcx-limited-range",
                                                   "-ffp-contract=fast",
                                                   "-ffp-contract=off",
                                                   "-funroll-loops",
                                                   "-fno-unroll-loops",
                                                   "-fno-tree-vectorize",
                                                   "-ftree-vectorize",
                                                   "-fno-tree-slp-vectorize",
                                                   "-fvect-cost-model=unlimited",
                                                   "-fvect-cost-model=dynamic",
                                                   "-fvect-cost-model=cheap",
                                                   "-mno-recip",
                                                   "-mprefer-vector-width=128",
                                                   "-mprefer-vector-width=256",
                                                   "-mprefer-vector-width=512",
                                                   "-fno-strict-aliasing",
                                                   "-fprefetch-loop-arrays",
                                                   "-fomit-frame-pointer",
                                                   "-O1",
                                                   "-O2",
                                                   "-O3",
                                                   "-fno-tree-loop-distribute-patterns",
                                                   "-fno-schedule-insns2",
                                                   "-fschedule-insns",
                                                   "-floop-interchange",
                                                   "-fno-loop-interchange",
                                                   "-floop-unroll-and-jam",
                                                   "-fno-loop-unroll-and-jam",
                                                   "-fsplit-loops",
                                                   "-fgcse-las",
                                                   "-fira-region=all",
                                                   "-fno-gcse"};
  return flags;
}

namespace {

using Problem = DirectiveProblem;

// More than anyone tunes: a slip of the pen is told at once.
constexpr std::size_t kMostTunedNames = 16;
constexpr std::size_t kMostValues = 64;
constexpr std::int64_t kLargestValue = 0x7fffffff;  ///< a macro is an int

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r';
}
bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

/// A line of the source that begins with `//@`.
struct DirectiveLine {
  std::string_view text;   ///< from the `//@` to the end of the line
  std::size_t offset = 0;  ///< of the text in the source
  int line = 1;
  int column = 1;
};

tl::expected<std::vector<DirectiveLine>, Problem> lines_of(std::string_view source) {
  std::vector<DirectiveLine> lines;
  if (source.find("//@") == std::string_view::npos) return lines;
  for (const Token& token : c_tokens(source)) {
    if (token.kind != TokenKind::directive) continue;
    const std::string_view before = source.substr(0, token.offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::string_view rest = source.substr(token.offset);
    const DirectiveLine found{rest.substr(0, rest.find('\n')), token.offset,
                              static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
                              static_cast<int>(token.offset - line_start) + 1};
    if (before.substr(line_start).find_first_not_of(" \t") != std::string_view::npos) {
      return tl::make_unexpected(Problem{found.line, found.column, "a //@ directive must begin its line"});
    }
    lines.push_back(found);
  }
  return lines;
}

/// Reads one line.
class LineReader {
 public:
  LineReader(const DirectiveLine& line, CpuDirectives& directives) : line_(line), directives_(directives) {}

  tl::expected<void, Problem> read() {
    at_ = 3;
    const std::string_view keyword = next_word();
    at_ += keyword.size();
    if (keyword == "flags") return flags();
    if (keyword == "tune") return tune();
    if (keyword == "require") return require();
    at_ -= keyword.size();
    return refuse("unknown directive \"//@ " + std::string(keyword) +
                  "\"; C and C++ kernels know //@ flags, //@ tune and //@ require");
  }

 private:
  [[nodiscard]] char here() const { return at_ < line_.text.size() ? line_.text[at_] : '\0'; }
  char peek() {
    while (is_blank(here())) ++at_;
    return here();
  }

  tl::unexpected<Problem> refuse(std::string message) const {
    return tl::make_unexpected(Problem{line_.line, line_.column + static_cast<int>(at_), std::move(message)});
  }

  [[nodiscard]] std::string found_text() const {
    return at_ < line_.text.size() ? ", found '" + std::string(1, here()) + "'" : ", found the end of the line";
  }

  std::string_view next_word() {
    peek();
    const std::size_t end = std::min(line_.text.find_first_of(" \t\r", at_), line_.text.size());
    return line_.text.substr(at_, end - at_);
  }

  std::string_view identifier() {
    peek();
    std::size_t end = at_;
    while (end < line_.text.size() && (is_letter(line_.text[end]) || is_digit(line_.text[end]))) ++end;
    return line_.text.substr(at_, end - at_);
  }

  tl::expected<void, Problem> flags() {
    for (std::string_view flag = next_word(); !flag.empty(); at_ += flag.size(), flag = next_word()) {
      const auto& allowed = allowed_flags();
      if (std::find(allowed.begin(), allowed.end(), flag) == allowed.end()) {
        return refuse("flag \"" + std::string(flag) + "\" is not on the allow-list of //@ flags");
      }
      directives_.flags.emplace_back(flag);
    }
    return {};
  }

  tl::expected<void, Problem> tune() {
    if (peek() == '\0') return refuse("expected NAME in {VALUE, VALUE, ...} after //@ tune");
    while (peek() != '\0') {
      if (auto read = tuned_name(); !read) return read;
    }
    return {};
  }

  tl::expected<void, Problem> tuned_name() {
    const std::string_view name = identifier();
    TunedName tuned{std::string(name), {}, line_.line, line_.column + static_cast<int>(at_), 0, 0};
    if (name.empty() || is_digit(name.front())) return refuse("expected a name" + found_text());
    if (std::any_of(directives_.tuned.begin(), directives_.tuned.end(),
                    [&](const TunedName& known) { return known.name == name; })) {
      return refuse("\"" + tuned.name + "\" is tuned twice");
    }
    if (directives_.tuned.size() == kMostTunedNames) return refuse("more than 16 names are tuned");
    at_ += name.size();
    if (identifier() != "in") return refuse("expected \"in\" after " + tuned.name + found_text());
    at_ += 2;
    if (peek() != '{') return refuse("expected '{' and the values of " + tuned.name + found_text());
    tuned.set_begin = line_.offset + at_;
    ++at_;
    if (peek() == '}') return refuse("the set of " + tuned.name + " is empty");
    for (;;) {
      if (auto value = tuned_value(tuned); !value) return value;
      if (peek() == '}') break;
      if (here() != ',') return refuse("expected ',' or '}' in the set of " + tuned.name + found_text());
      ++at_;
    }
    ++at_;
    tuned.set_end = line_.offset + at_;
    directives_.tuned.push_back(std::move(tuned));
    return {};
  }

  tl::expected<void, Problem> tuned_value(TunedName& tuned) {
    peek();
    std::size_t end = at_ + (here() == '-' ? 1 : 0);
    const std::size_t digits = end;
    std::int64_t value = 0;
    for (; end < line_.text.size() && is_digit(line_.text[end]); ++end) {
      value = value * 10 + (line_.text[end] - '0');
      if (value > kLargestValue) return refuse("a value of " + tuned.name + " does not fit into 31 bits");
    }
    if (end == digits) return refuse("expected a whole number in the set of " + tuned.name + found_text());
    if (here() == '-') value = -value;
    if (std::find(tuned.values.begin(), tuned.values.end(), value) != tuned.values.end()) {
      return refuse(std::to_string(value) + " stands twice in the set of " + tuned.name);
    }
    if (tuned.values.size() == kMostValues) return refuse("the set of " + tuned.name + " has more than 64 values");
    tuned.values.push_back(value);
    at_ = end;
    return {};
  }

  tl::expected<void, Problem> require() {
    if (peek() == '\0') return refuse("expected an expression after //@ require");
    std::string_view text = line_.text.substr(at_);
    while (is_blank(text.back())) text.remove_suffix(1);
    if (const auto fault = base::expression_fault(text)) {
      at_ += fault->offset;
      return refuse(fault->reason);
    }
    directives_.required.push_back({std::string(text), line_.line, line_.column + static_cast<int>(at_)});
    return {};
  }

  const DirectiveLine& line_;
  CpuDirectives& directives_;
  std::size_t at_ = 0;  ///< in the line's text
};

}  // namespace

tl::expected<CpuDirectives, DirectiveProblem> parse_cpu_directives(std::string_view source) {
  const auto lines = lines_of(source);
  if (!lines) return tl::make_unexpected(lines.error());
  CpuDirectives directives;
  for (const DirectiveLine& line : *lines) {
    if (auto read = LineReader(line, directives).read(); !read) return tl::make_unexpected(read.error());
  }
  return directives;
}

}  // namespace accelopt::model
