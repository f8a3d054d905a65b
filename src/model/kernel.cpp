// SPDX-License-Identifier: Apache-2.0
#include "model/kernel.hpp"

#include "base/json_text.hpp"
#include "model/target_description.hpp"

namespace accelopt::model {

struct Kernel::Read {
  Solution solution;
  std::string id;
  tl::expected<TuneDirectives, DirectiveProblem> directives;
};

Kernel::Kernel(Solution solution) {
  std::string id = source_id(solution);
  auto directives = solution.sources.empty() ? TuneDirectives() : tune_directives(solution);
  read_ = std::make_shared<const Read>(Read{std::move(solution), std::move(id), std::move(directives)});
}

const Solution& Kernel::solution() const {
  static const Solution kNone;
  return read_ ? read_->solution : kNone;
}

const std::string& Kernel::id() const {
  static const std::string kNone;
  return read_ ? read_->id : kNone;
}

tl::expected<TuningSpace, DirectiveProblem> Kernel::space(const Definition& definition) const {
  if (!read_) return TuningSpace();
  if (!read_->directives) return tl::make_unexpected(read_->directives.error());
  return expand_tuning(*read_->directives, definition);
}

std::optional<Kernel> Kernel::with_values(const TuningValues& values) const {
  if (solution().sources.empty()) return std::nullopt;
  if (!describe(solution().language).values_comment.empty()) {
    if (values.empty() || commented_values(solution())) return std::nullopt;
    return Kernel(model::with_values(solution(), values));
  }
  if (!read_->directives || read_->directives->tuned.size() != values.size()) return std::nullopt;
  return Kernel(model::with_values(solution(), values));
}

void to_json(base::Json& out, const Kernel& kernel) {
  out = kernel.solution();
}

void from_json(const base::Json& in, Kernel& kernel) {
  kernel = Kernel(in.get<Solution>());
}

void write_json(base::JsonText& out, const Kernel& kernel) {
  out.add(kernel.solution());
}

}  // namespace accelopt::model
