// SPDX-License-Identifier: Apache-2.0
// What the task's reference computes at places of a workload that is too large to be computed as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "model/task.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// The reference is called once, with each variable axis cut to a few places of it that are drawn: 16 in all, at least
/// one an axis. It has to compute each place of a variable axis on its own.
class ReferencePlaces {
 public:
  /// The largest workload that the reference is asked for in place of this one.
  static model::Workload cut(const model::Definition& definition, model::Workload workload);

  /// @error invalid_argument: the reference crashed or did not end.
  static base::Result<ReferencePlaces> compute(const model::Definition& definition, const model::Workload& workload,
                                               const std::vector<std::span<const float>>& inputs,
                                               const evaluation::HostReference& reference, std::uint64_t seed);

  /// Executes what the program needs for stretches of these places, drawn by `seed`. Why its results are not the
  /// reference's; "": they are. @error cancelled.
  [[nodiscard]] base::Result<std::string> check(const Program& program,
                                                const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                                const std::stop_token& stop) const;

 private:
  /// Elements of a tensor that lie in the cut: runs of equal length.
  struct Cut {
    std::vector<std::int64_t> begins;  ///< in the whole tensor
    std::int64_t run = 1;
    std::int64_t row = 1;  ///< elements of the last axis in the cut
    [[nodiscard]] std::int64_t whole(std::int64_t place) const {
      return begins[static_cast<std::size_t>(place / run)] + place % run;
    }
  };
  using Places = std::map<std::string, std::vector<std::int64_t>>;  ///< of each variable axis, ascending

  static Cut cut_of(const model::TensorSpec& tensor, const model::AxisValues& axes, const Places& places);

  std::vector<Cut> cuts_;  ///< of each output
  std::vector<std::vector<double>> expected_;
};

}  // namespace accelopt::targets::trainium
