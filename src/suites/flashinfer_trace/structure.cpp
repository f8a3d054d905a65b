// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/structure.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/expression.hpp"
#include "suites/flashinfer_trace/constraints.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

/// What an integer input is, by a part of its name, and the generators that draw one, the best first. A generator is
/// taken if all axes that it names are there.
struct NamedStructure {
  std::string_view part;
  std::array<const char*, 5> generators;
};
constexpr std::array kStructures{
    NamedStructure{"last_page_len", {"integers(1, page_size + 1)"}},
    NamedStructure{"topk_ids", {"distinct(0, num_experts)", "distinct(0, num_local_experts)"}},
    NamedStructure{"expert", {"distinct(0, num_experts)", "distinct(0, num_local_experts)"}},
    NamedStructure{"sparse_indices", {"distinct(0, num_pages * page_size)", "distinct(0, num_pages)"}},
    NamedStructure{"state", {"distinct(0, state_cache_size)", "distinct(0, pool_size)"}},
    NamedStructure{
        "indices",
        {"distinct(0, num_pages)", "distinct(0, max_num_pages)", "distinct(0, pool_size)", "distinct(0, vocab_size)"}},
    NamedStructure{"page_table", {"distinct(0, num_pages)", "distinct(0, max_num_pages)"}},
    NamedStructure{"block_table", {"distinct(0, num_pages)", "distinct(0, max_num_pages)"}},
    NamedStructure{"positions", {"integers(0, max_seq_len)", "integers(0, seq_len)"}},
    NamedStructure{"pos_ids", {"integers(0, max_seq_len)", "integers(0, seq_len)"}},
    NamedStructure{
        "seq_len",
        {"integers(1, max_num_pages * page_size + 1)", "integers(1, max_seq_len + 1)", "integers(1, seq_len + 1)"}},
    NamedStructure{"top_k", {"integers(1, vocab_size + 1)"}},
};

bool names_only_axes(const model::InitSpec& init, const Definition& definition) {
  for (const std::string& expression : init.expressions) {
    if (expression.empty()) continue;
    const auto names = base::expression_names(expression);
    if (!names) return false;
    for (const std::string& name : *names) {
      if (std::none_of(definition.axes.begin(), definition.axes.end(),
                       [&](const Axis& axis) { return axis.name == name; }))
        return false;
    }
  }
  return true;
}

}  // namespace

std::optional<model::InitSpec> structural_generator(const Definition& definition, const Tensor& input) {
  for (const std::string& constraint : definition.constraints) {
    const auto last = last_element_in(constraint, definition);
    if (!last || last->input != input.name) continue;
    model::InitSpec offsets{model::InitKind::indptr};
    offsets.expressions[0] = last->axis;
    return offsets;
  }
  for (const NamedStructure& structure : kStructures) {
    if (input.name.find(structure.part) == std::string::npos) continue;
    for (const char* text : structure.generators) {
      const auto init = text == nullptr ? base::Result<model::InitSpec>(model::InitSpec{}) : model::parse_init(text);
      if (text != nullptr && init && names_only_axes(*init, definition)) return *init;
    }
  }
  return std::nullopt;
}

model::InitSpec with_repeats(model::InitSpec init) {
  if (init.kind == model::InitKind::distinct) init.kind = model::InitKind::integers;
  return init;
}

}  // namespace accelopt::suites::flashinfer_trace
