// SPDX-License-Identifier: Apache-2.0
#include "refactor/laziness.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::string_view kReadsMark = "reads before results: ";
/// In shorter lists, one item more that is read ahead is much of them.
constexpr std::int64_t kLeastItems = 4;

/// What is known of one list of a call's arguments.
struct ListReads {
  std::int64_t length = 0;
  std::array<std::int64_t, 2> before{};  ///< items that were read before the first result, and before the second
  bool in_order = false;
};

/// By call; none: not known.
std::vector<std::vector<ListReads>> reads_of(std::string_view errors) {
  std::vector<std::vector<ListReads>> calls;
  const std::size_t at = errors.rfind(kReadsMark);
  if (at == errors.npos) return calls;
  const auto told = base::parse_json(base::first_line(errors.substr(at + kReadsMark.size())), "reads");
  if (!told || !told->is_array()) return calls;
  for (const base::Json& call : *told) {
    auto& lists = calls.emplace_back();
    if (!call.is_array()) continue;
    for (const base::Json& one : call) {
      if (!one.is_array() || one.size() != 4 || !one[3].is_boolean()) return {};
      if (!std::all_of(one.begin(), one.begin() + 3, [](const auto& it) { return it.is_number_integer(); })) return {};
      lists.push_back(
          {one[0].get<std::int64_t>(), {one[1].get<std::int64_t>(), one[2].get<std::int64_t>()}, one[3].get<bool>()});
    }
  }
  return calls;
}

bool is_compared(const ListReads& list) {
  return list.in_order && list.length >= kLeastItems;
}

}  // namespace

std::string eager_reads(std::string_view old_errors, std::string_view new_errors) {
  const auto old_calls = reads_of(old_errors);
  const auto new_calls = reads_of(new_errors);
  if (old_calls.size() != new_calls.size()) return "";
  for (std::size_t call = 0; call < old_calls.size(); ++call) {
    if (old_calls[call].size() != new_calls[call].size()) continue;
    for (std::size_t at = 0; at < old_calls[call].size(); ++at) {
      const ListReads& before = old_calls[call][at];
      const ListReads& after = new_calls[call][at];
      if (!is_compared(before) || after.length != before.length) continue;
      for (std::size_t result = 0; result < before.before.size(); ++result) {
        if (before.before[result] * 2 > before.length || after.before[result] < before.length) continue;
        return fmt::format(
            "the iterator is less lazy: before its {} result the new code read all {} items of a list, the old code "
            "{}; "
            "where that is meant, take reads() out of the driver",
            result == 0 ? "first" : "second", after.length, before.before[result]);
      }
    }
  }
  return "";
}

bool tells_reads(std::string_view errors) {
  return std::ranges::any_of(reads_of(errors),
                             [](const auto& lists) { return std::ranges::any_of(lists, is_compared); });
}

}  // namespace accelopt::refactor
