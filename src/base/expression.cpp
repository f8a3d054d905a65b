// SPDX-License-Identifier: Apache-2.0
#include "base/expression.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace accelopt::base {
namespace {

/// Deeper nesting than any expression that a person writes; bounds the parser's recursion.
constexpr int kMaxDepth = 200;
constexpr const char* kTooLarge = "the value does not fit into 64 bits";

enum class Operation {
  constant,
  name,
  negate,
  invert,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  ceil_divide,
  minimum,
  maximum,
  equal,
  unequal,
  less,
  at_most,
  greater,
  at_least,
  both,
  either
};

/// One instruction of the expression in postfix order.
struct Step {
  Operation operation = Operation::constant;
  std::int64_t value = 0;  ///< of a constant
  std::string name;        ///< of a name
};

struct Function {
  std::string_view name;
  Operation operation;
};
constexpr Function kFunctions[] = {
    {"cdiv", Operation::ceil_divide}, {"min", Operation::minimum}, {"max", Operation::maximum}};

struct Comparison {
  std::string_view sign;
  Operation operation;
};
/// Longer signs first: the first that fits is the one that is meant.
constexpr Comparison kComparisons[] = {{"==", Operation::equal},   {"!=", Operation::unequal},
                                       {"<=", Operation::at_most}, {">=", Operation::at_least},
                                       {"<", Operation::less},     {">", Operation::greater}};

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}
bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
bool is_name_start(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

/// Recursive descent over the grammar
///   either: both {|| both}; both: comparison {&& comparison}; comparison: sum [(==|!=|<=|>=|<|>) sum];
///   sum: product {(+|-) product}; product: unary {(*|/|%) unary}; unary: -unary | !unary | primary;
///   primary: integer | name | function(either, either) | (either)
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Step>> parse() {
    TRY(either(0));
    skip_spaces();
    if (position_ < text_.size()) return refuse("expected an operator or the end");
    return std::move(steps_);
  }

  /// Where and why `parse` failed.
  const std::optional<ExpressionFault>& fault() const { return fault_; }

 private:
  void skip_spaces() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  }

  /// The next character that is no space; 0 at the end.
  char peek() {
    skip_spaces();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool take(char letter) {
    if (peek() != letter || position_ >= text_.size()) return false;
    ++position_;
    return true;
  }

  tl::unexpected<Error> refuse(std::string_view reason) {
    fault_ = ExpressionFault{position_, std::string(reason)};
    if (position_ < text_.size()) fault_->reason += ", found '" + std::string(1, text_[position_]) + "'";
    return fail(ErrorCode::parse,
                "\"" + std::string(text_) + "\", column " + std::to_string(position_ + 1) + ": " + fault_->reason);
  }

  void emit(Operation operation) { steps_.push_back({operation, 0, {}}); }

  bool take_sign(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(sign)) return false;
    position_ += sign.size();
    return true;
  }

  Result<void> either(int depth) {
    TRY(both(depth));
    while (take_sign("||")) {
      TRY(both(depth));
      emit(Operation::either);
    }
    return {};
  }

  Result<void> both(int depth) {
    TRY(comparison(depth));
    while (take_sign("&&")) {
      TRY(comparison(depth));
      emit(Operation::both);
    }
    return {};
  }

  /// At most one sign: 1 < a < 3 would not mean what it seems to.
  Result<void> comparison(int depth) {
    TRY(sum(depth));
    for (const Comparison& known : kComparisons) {
      if (!take_sign(known.sign)) continue;
      TRY(sum(depth));
      emit(known.operation);
      break;
    }
    return {};
  }

  Result<void> sum(int depth) {
    TRY(product(depth));
    for (;;) {
      const char sign = peek();
      if (sign != '+' && sign != '-') return {};
      ++position_;
      TRY(product(depth));
      emit(sign == '+' ? Operation::add : Operation::subtract);
    }
  }

  Result<void> product(int depth) {
    TRY(unary(depth));
    for (;;) {
      const char sign = peek();
      if (sign != '*' && sign != '/' && sign != '%') return {};
      ++position_;
      TRY(unary(depth));
      emit(sign == '*' ? Operation::multiply : sign == '/' ? Operation::divide : Operation::modulo);
    }
  }

  Result<void> unary(int depth) {
    if (depth > kMaxDepth) return refuse("nested too deeply");
    const bool inverts = peek() == '!' && !text_.substr(position_).starts_with("!=");
    if (!inverts && peek() != '-') return primary(depth);
    ++position_;
    TRY(unary(depth + 1));
    emit(inverts ? Operation::invert : Operation::negate);
    return {};
  }

  Result<void> primary(int depth) {
    const char next = peek();
    if (is_digit(next)) return integer();
    if (is_name_start(next)) return name_or_call(depth);
    if (!take('(')) return refuse("expected a number, a name or '('");
    TRY(either(depth + 1));
    if (!take(')')) return refuse("expected ')'");
    return {};
  }

  Result<void> integer() {
    std::int64_t value = 0;
    const char* const first = text_.data() + position_;
    const auto [last, problem] = std::from_chars(first, text_.data() + text_.size(), value);
    if (problem != std::errc{}) return refuse("the number does not fit into 64 bits");
    position_ += static_cast<std::size_t>(last - first);
    if (position_ < text_.size() && (is_name_start(text_[position_]) || text_[position_] == '.')) {
      return refuse("only whole numbers can be written here");
    }
    steps_.push_back({Operation::constant, value, {}});
    return {};
  }

  Result<void> name_or_call(int depth) {
    const std::size_t start = position_;
    while (position_ < text_.size() && (is_name_start(text_[position_]) || is_digit(text_[position_]))) ++position_;
    std::string name(text_.substr(start, position_ - start));
    if (peek() != '(') {
      steps_.push_back({Operation::name, 0, std::move(name)});
      return {};
    }
    const auto* const function =
        std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function& f) { return f.name == name; });
    if (function == std::end(kFunctions)) {
      position_ = start;
      return refuse("unknown function \"" + name + "\"; known are cdiv, min, max");
    }
    take('(');
    TRY(either(depth + 1));
    if (!take(',')) return refuse("expected ',': " + name + " takes two values");
    TRY(either(depth + 1));
    if (!take(')')) return refuse("expected ')': " + name + " takes two values");
    emit(function->operation);
    return {};
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<Step> steps_;
  std::optional<ExpressionFault> fault_;
};

/// floor(a / b); none when b is 0 or the quotient does not fit.
std::optional<std::int64_t> floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == std::numeric_limits<std::int64_t>::min() && b == -1)) return std::nullopt;
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// The operation's value; none when it is a division by zero or does not fit into 64 bits.
std::optional<std::int64_t> apply(Operation operation, std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  switch (operation) {
    case Operation::add:
      return __builtin_add_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case Operation::subtract:
      return __builtin_sub_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case Operation::multiply:
      return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case Operation::divide:
      return floor_divide(a, b);
    case Operation::modulo:
      if (b == -1) return 0;
      if (const auto quotient = floor_divide(a, b)) return a - *quotient * b;
      return std::nullopt;
    case Operation::ceil_divide:
      if (const auto quotient = floor_divide(a, b)) return *quotient + (a % b != 0 ? 1 : 0);
      return std::nullopt;
    case Operation::minimum:
      return std::min(a, b);
    case Operation::maximum:
      return std::max(a, b);
    case Operation::equal:
      return a == b ? 1 : 0;
    case Operation::unequal:
      return a != b ? 1 : 0;
    case Operation::less:
      return a < b ? 1 : 0;
    case Operation::at_most:
      return a <= b ? 1 : 0;
    case Operation::greater:
      return a > b ? 1 : 0;
    case Operation::at_least:
      return a >= b ? 1 : 0;
    case Operation::constant:
    case Operation::name:
    case Operation::negate:
    case Operation::invert:
    case Operation::both:
    case Operation::either:
      break;
  }
  ACCELOPT_ASSERT(false, "an operation that does not take two values");
}

bool divides(Operation operation) {
  return operation == Operation::divide || operation == Operation::modulo || operation == Operation::ceil_divide;
}

/// A value, or why there is none: what && and || do not need may fail.
struct Operand {
  std::int64_t value = 0;
  const char* failure = nullptr;
};

Operand combine(Operation operation, const Operand& only) {
  if (only.failure != nullptr) return only;
  if (operation == Operation::invert) return {only.value == 0 ? 1 : 0};
  const auto value = apply(Operation::subtract, 0, only.value);
  return value ? Operand{*value} : Operand{0, kTooLarge};
}

Operand combine(Operation operation, const Operand& left, const Operand& right) {
  if (left.failure != nullptr) return left;
  if (operation == Operation::both && left.value == 0) return {0};
  if (operation == Operation::either && left.value != 0) return {1};
  if (right.failure != nullptr) return right;
  if (operation == Operation::both || operation == Operation::either) return {right.value != 0 ? 1 : 0};
  const auto value = apply(operation, left.value, right.value);
  if (value) return {*value};
  return {0, divides(operation) && right.value == 0 ? "division by zero" : kTooLarge};
}

tl::unexpected<Error> refuse_value(std::string_view text, std::string_view reason) {
  return fail(ErrorCode::invalid_argument, "\"" + std::string(text) + "\": " + std::string(reason));
}

}  // namespace

Result<std::int64_t> evaluate_expression(std::string_view text, const std::map<std::string, std::int64_t>& values) {
  TRY_ASSIGN(const std::vector<Step> steps, Parser(text).parse());
  std::vector<Operand> stack;
  for (const Step& step : steps) {
    if (step.operation == Operation::constant) {
      stack.push_back({step.value});
    } else if (step.operation == Operation::name) {
      const auto found = values.find(step.name);
      if (found == values.end()) return refuse_value(text, "unknown name \"" + step.name + "\"");
      stack.push_back({found->second});
    } else {
      const Operand right = stack.back();
      const bool unary = step.operation == Operation::negate || step.operation == Operation::invert;
      if (!unary) stack.pop_back();
      stack.back() = unary ? combine(step.operation, right) : combine(step.operation, stack.back(), right);
    }
  }
  ACCELOPT_ASSERT(stack.size() == 1, "an expression leaves one value");
  if (stack.back().failure != nullptr) return refuse_value(text, stack.back().failure);
  return stack.back().value;
}

std::optional<ExpressionFault> expression_fault(std::string_view text) {
  Parser parser(text);
  return parser.parse() ? std::nullopt : parser.fault();
}

Result<std::vector<std::string>> expression_names(std::string_view text) {
  TRY_ASSIGN(const std::vector<Step> steps, Parser(text).parse());
  std::vector<std::string> names;
  for (const Step& step : steps) {
    if (step.operation != Operation::name) continue;
    if (std::find(names.begin(), names.end(), step.name) == names.end()) names.push_back(step.name);
  }
  return names;
}

}  // namespace accelopt::base
