// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace accelopt::fuzz {
namespace {

// What the formats are made of, and where readers have their limits.
constexpr std::array kWords = {"{",
                               "}",
                               "[",
                               "]",
                               "\"",
                               ":",
                               ",",
                               "null",
                               "true",
                               "false",
                               "0",
                               "-1",
                               "1e999",
                               "-0.0",
                               "1e-400",
                               "NaN",
                               "\n",
                               "\r\n",
                               "\t",
                               "\\",
                               "\\u0000",
                               "\\ud800",
                               "\xff\xfe",
                               "(",
                               ")",
                               "//@ ",
                               "tune ",
                               " in {",
                               "```",
                               "data: ",
                               "[DONE]",
                               "=",
                               "[[",
                               "#",
                               "'''",
                               "../",
                               "/etc/",
                               "2147483648",
                               "4294967296",
                               "9223372036854775807",
                               "-9223372036854775808",
                               "18446744073709551616",
                               "min(",
                               "max(",
                               "/0",
                               "%0",
                               "<<<<<<< SEARCH\n",
                               "=======\n",
                               ">>>>>>> REPLACE\n"};

class Mutator {
 public:
  Mutator(std::string input, const std::vector<std::string>& pool, std::mt19937_64& random)
      : text_(std::move(input)), most_(std::max(kMostInputBytes, text_.size())), pool_(pool), random_(random) {}

  std::string take() { return std::move(text_); }

  void change() {
    switch (text_.empty() ? 5 : below(9)) {
      case 0:
        return void(text_[place()] ^= static_cast<char>(1U << below(8)));
      case 1:
        return void(text_[place()] = static_cast<char>(below(256)));
      case 2:
        return change_number();
      case 3:
        return remove();
      case 4:
        return repeat();
      case 5:
        return insert(kWords[below(kWords.size())]);
      case 6:
        return insert(piece_of(pool_[below(pool_.size())]));
      case 7:
        return move();
      default:
        return change_integer();
    }
  }

 private:
  std::size_t below(std::size_t bound) { return bound < 2 ? 0 : static_cast<std::size_t>(random_() % bound); }
  std::size_t place() { return below(text_.size()); }

  std::string piece_of(const std::string& whole) {
    const std::size_t begin = below(whole.size());
    return whole.empty() ? "" : whole.substr(begin, 1 + below(std::min<std::size_t>(whole.size() - begin, 256)));
  }

  void insert(const std::string& piece) {
    if (text_.size() + piece.size() <= most_) text_.insert(below(text_.size() + 1), piece);
  }

  void remove() {
    const std::size_t begin = place();
    text_.erase(begin, 1 + below(std::min<std::size_t>(text_.size() - begin, 64)));
  }

  /// Deep nesting and long lists come of this.
  void repeat() {
    const std::string piece = piece_of(text_);
    std::string many;
    for (std::size_t times = std::size_t{1} << below(11); times > 0 && many.size() + text_.size() < most_; --times)
      many += piece;
    insert(many);
  }

  void move() {
    const std::size_t begin = place();
    const std::size_t size = 1 + below(std::min<std::size_t>(text_.size() - begin, 64));
    const std::string piece = text_.substr(begin, size);
    text_.erase(begin, size);
    insert(piece);
  }

  /// A number that is written out, for another one.
  void change_number() {
    const std::size_t from = place();
    const auto digit = std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(from), text_.end(),
                                    [](unsigned char one) { return std::isdigit(one) != 0; });
    if (digit == text_.end()) return;
    const auto begin = static_cast<std::size_t>(digit - text_.begin());
    std::size_t end = begin;
    while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end])) != 0) ++end;
    const std::array<std::string, 6> others = {"0",
                                               "1",
                                               std::to_string(random_()),
                                               "-" + std::to_string(below(1000)),
                                               "1.5",
                                               std::string(1 + below(400), '9')};
    text_.replace(begin, end - begin, others[below(others.size())]);
  }

  /// Four or eight bytes as binary formats have them, for the limits of an integer or a small one.
  void change_integer() {
    const std::size_t width = below(2) == 0 ? 4 : 8;
    if (text_.size() < width) return;
    const std::array<std::uint64_t, 6> values = {
        0, 1, ~std::uint64_t{0}, std::uint64_t{1} << (width * 8 - 1), below(4096), text_.size()};
    std::uint64_t value = values[below(values.size())];
    const std::size_t at = below(text_.size() - width + 1);
    for (std::size_t byte = 0; byte < width; ++byte, value >>= 8U) text_[at + byte] = static_cast<char>(value & 0xFFU);
  }

  std::string text_;
  std::size_t most_;
  const std::vector<std::string>& pool_;
  std::mt19937_64& random_;
};

}  // namespace

std::string mutated(std::string input, const std::vector<std::string>& pool, std::mt19937_64& random) {
  Mutator mutator(std::move(input), pool, random);
  for (std::uint64_t changes = 1 + random() % 8; changes > 0; --changes) mutator.change();
  return mutator.take();
}

}  // namespace accelopt::fuzz
