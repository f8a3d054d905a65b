// SPDX-License-Identifier: Apache-2.0
// What the task's reference computes at places of a workload that is too large to be computed as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "model/task.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// The reference is called with some variable axes cut to a few places of them that are drawn: 16 in all, at least one
/// an axis. It has to compute each place of these axes on its own.
class ReferencePlaces {
 public:
  using Axes = std::vector<std::string>;

  /// The largest workload that the reference is asked for in place of this one.
  static model::Workload cut(model::Workload workload, const Axes& axes);

  /// @error unsupported: a variable axis that no output has, which cannot be cut.
  static base::Result<void> check_definition(const model::Definition& definition);

  /// Whether a reference's plain loops compute such a cut workload at once: within a second, in 128 MiB.
  static bool cheap(const model::Definition& definition, const model::Workload& cut);

  /// The variable axes of which the reference computes each place on its own, as a workload shows that it computes
  /// whole. None that the workload has a few places of.
  static Axes separable(const model::Definition& definition, const model::Workload& workload,
                        const std::vector<std::span<const float>>& inputs, const evaluation::HostReference& reference,
                        std::uint64_t seed);

  /// @error invalid_argument: the reference crashed or did not end.
  static base::Result<ReferencePlaces> compute(const model::Definition& definition, const model::Workload& workload,
                                               const std::vector<std::span<const float>>& inputs,
                                               const evaluation::HostReference& reference, const Axes& axes,
                                               std::uint64_t seed);

  /// The same, where the reference gives the same for half of the places. None: it does not, or fails.
  static std::optional<ReferencePlaces> compute_twice(const model::Definition& definition,
                                                      const model::Workload& workload,
                                                      const std::vector<std::span<const float>>& inputs,
                                                      const evaluation::HostReference& reference, const Axes& axes,
                                                      std::uint64_t seed);

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
  using Places = std::map<std::string, std::vector<std::int64_t>>;  ///< of each axis that is cut, ascending

  static Places drawn(const model::AxisValues& axes, const Axes& cut, std::uint64_t seed);
  static base::Result<ReferencePlaces> at(const model::Definition& definition, const model::Workload& workload,
                                          const std::vector<std::span<const float>>& inputs,
                                          const evaluation::HostReference& reference, const Places& places);
  static Cut cut_of(const model::TensorSpec& tensor, const model::AxisValues& axes, const Places& places);

  /// Whether the other one, which has these places among its own, expects the same there.
  [[nodiscard]] bool agrees_with(const ReferencePlaces& other) const;

  std::vector<Cut> cuts_;  ///< of each output
  std::vector<std::vector<double>> expected_;
  double allowed_ = 0;  ///< of the values' size
};

}  // namespace accelopt::targets::trainium
