// SPDX-License-Identifier: Apache-2.0
#include "base/unified_diff.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"

namespace accelopt::base {
namespace {

constexpr int kContextLines = 3;

/// The lines of a text, each with its line end; the last one may have none.
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// Equal lines get equal numbers.
class LineNumbers {
 public:
  std::vector<int> of(const std::vector<std::string_view>& lines) {
    std::vector<int> numbers;
    numbers.reserve(lines.size());
    for (const std::string_view line : lines) {
      numbers.push_back(known_.emplace(line, static_cast<int>(known_.size())).first->second);
    }
    return numbers;
  }

 private:
  std::unordered_map<std::string_view, int> known_;
};

/// Half-open ranges of both texts.
struct Box {
  int left = 0;
  int right = 0;
  int top = 0;
  int bottom = 0;
};

/// A run of equal lines in the middle of a shortest edit: from (left, top) to (right, bottom); it may be empty.
using Snake = Box;

/// Marks the lines of a shortest edit. Myers' divide and conquer over the edit graph: linear space.
class ShortestEdit {
 public:
  ShortestEdit(const std::vector<int>& before, const std::vector<int>& after)
      : before_(before), after_(after), removed_(before.size()), added_(after.size()) {
    mark({0, static_cast<int>(before.size()), 0, static_cast<int>(after.size())});
  }

  [[nodiscard]] const std::vector<bool>& removed() const { return removed_; }
  [[nodiscard]] const std::vector<bool>& added() const { return added_; }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] bool equal(int x, int y) const { return before_[at(x)] == after_[at(y)]; }

  void mark(Box box) {
    while (box.left < box.right && box.top < box.bottom && equal(box.left, box.top)) ++box.left, ++box.top;
    while (box.left < box.right && box.top < box.bottom && equal(box.right - 1, box.bottom - 1)) {
      --box.right, --box.bottom;
    }
    if (box.left == box.right || box.top == box.bottom) {
      for (int x = box.left; x < box.right; ++x) removed_[at(x)] = true;
      for (int y = box.top; y < box.bottom; ++y) added_[at(y)] = true;
      return;
    }
    const Snake snake = middle_snake(box);
    mark({box.left, snake.left, box.top, snake.top});
    mark({snake.right, box.right, snake.bottom, box.bottom});
  }

  /// Both ends advance by one difference at a time until they meet. Diagonal k holds the points with x - y = k, counted
  /// from the box's own corner; `reach` is the furthest x on it.
  Snake middle_snake(const Box& box) {
    const int width = box.right - box.left;
    const int height = box.bottom - box.top;
    const int shift = width - height;
    const int limit = (width + height + 1) / 2;
    const int origin = limit + 1;
    std::vector<int> forward(at(2 * limit + 3), -1);
    std::vector<int> backward(forward);
    forward[at(origin + 1)] = 0;
    backward[at(origin + 1)] = 0;
    const bool odd = shift % 2 != 0;
    for (int step = 0; step <= limit; ++step) {
      // Diagonals outside of the box are left out.
      const int lowest = -(step - 2 * std::max(0, step - height));
      const int highest = step - 2 * std::max(0, step - width);
      for (int k = lowest; k <= highest; k += 2) {
        const int start = advance(forward, origin, k, step);
        int x = start;
        while (x < width && x - k < height && equal(box.left + x, box.top + x - k)) ++x;
        forward[at(origin + k)] = x;
        const int facing = shift - k;
        if (odd && std::abs(facing) < step && backward[at(origin + facing)] >= 0 &&
            x + backward[at(origin + facing)] >= width) {
          return {box.left + start, box.left + x, box.top + start - k, box.top + x - k};
        }
      }
      for (int k = lowest; k <= highest; k += 2) {
        const int start = advance(backward, origin, k, step);
        int x = start;
        while (x < width && x - k < height && equal(box.right - 1 - x, box.bottom - 1 - (x - k))) ++x;
        backward[at(origin + k)] = x;
        const int facing = shift - k;
        if (!odd && std::abs(facing) <= step && forward[at(origin + facing)] >= 0 &&
            x + forward[at(origin + facing)] >= width) {
          return {box.right - x, box.right - start, box.bottom - (x - k), box.bottom - (start - k)};
        }
      }
    }
    ACCELOPT_ASSERT(false, "a shortest edit has a middle");
  }

  /// Where diagonal k begins with one more difference: below the point of k + 1, or right of that of k - 1.
  static int advance(const std::vector<int>& reach, int origin, int k, int step) {
    const int above = reach[at(origin + k + 1)];
    const int beside = reach[at(origin + k - 1)];
    if (k == -step || (k != step && beside < above)) return above;
    return beside + 1;
  }

  const std::vector<int>& before_;
  const std::vector<int>& after_;
  std::vector<bool> removed_;
  std::vector<bool> added_;
};

/// One output line: ' ', '-' or '+', and how many lines of each text come before it.
struct DiffLine {
  char sign = ' ';
  std::string_view text;
  int before = 0;
  int after = 0;
};

std::vector<DiffLine> merge(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after,
                            const ShortestEdit& edit) {
  std::vector<DiffLine> lines;
  std::size_t x = 0;
  std::size_t y = 0;
  const auto push = [&](char sign, std::string_view text) {
    lines.push_back({sign, text, static_cast<int>(x), static_cast<int>(y)});
  };
  while (x < before.size() || y < after.size()) {
    if (x < before.size() && edit.removed()[x]) {
      push('-', before[x]);
      ++x;
    } else if (y < after.size() && edit.added()[y]) {
      push('+', after[y]);
      ++y;
    } else {
      push(' ', before[x]);
      ++x, ++y;
    }
  }
  return lines;
}

/// "12,3": first line and count; an empty range names the line before it, a count of 1 is left out.
std::string range(int lines_before, int count) {
  std::string text = std::to_string(count == 0 ? lines_before : lines_before + 1);
  if (count != 1) text += "," + std::to_string(count);
  return text;
}

std::string format_hunk(const DiffLine* first, const DiffLine* last) {
  const auto count = [&](char without) {
    return static_cast<int>(std::count_if(first, last, [&](const DiffLine& line) { return line.sign != without; }));
  };
  std::string text = "@@ -" + range(first->before, count('+')) + " +" + range(first->after, count('-')) + " @@\n";
  for (const DiffLine* line = first; line != last; ++line) {
    text += line->sign;
    text += line->text;
    if (!line->text.ends_with('\n')) text += "\n\\ No newline at end of file\n";
  }
  return text;
}

/// A file name in a diff's first lines; a tab ends one that holds blanks.
std::string header(std::string_view mark, std::string_view name) {
  return std::string(mark) + " " + std::string(name) + (name.find(' ') == std::string_view::npos ? "\n" : "\t\n");
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
  if (before == after) return {};
  const auto before_lines = split_lines(before);
  const auto after_lines = split_lines(after);
  LineNumbers numbers;
  const auto before_numbers = numbers.of(before_lines);
  const auto after_numbers = numbers.of(after_lines);
  const ShortestEdit edit(before_numbers, after_numbers);
  const std::vector<DiffLine> lines = merge(before_lines, after_lines, edit);

  std::string text = header("---", before_name) + header("+++", after_name);
  const DiffLine* const begin = lines.data();
  const DiffLine* const end = begin + lines.size();
  const auto changes = [](const DiffLine& line) { return line.sign != ' '; };
  for (const DiffLine* change = std::find_if(begin, end, changes); change != end;) {
    const DiffLine* const first = change - std::min<std::ptrdiff_t>(kContextLines, change - begin);
    // Changes whose contexts touch or overlap share a hunk.
    const DiffLine* last_change = change;
    for (const DiffLine* next = change + 1; next != end && next - last_change <= 2 * kContextLines + 1; ++next) {
      if (changes(*next)) last_change = next;
    }
    const DiffLine* const last = last_change + std::min<std::ptrdiff_t>(kContextLines + 1, end - last_change);
    text += format_hunk(first, last);
    change = std::find_if(last, end, changes);
  }
  return text;
}

}  // namespace accelopt::base
