// SPDX-License-Identifier: Apache-2.0
// Outputs as the public NKI benchmark judges them: whole, on the inputs of its five seeds, within a relative L2
// distance.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "model/task.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

class WholeOutputs {
 public:
  static constexpr std::array<std::uint32_t, 5> kSeeds{0, 21, 42, 63, 84};
  static constexpr double kTolerance = 2e-5;
  static constexpr const char* kRule =
      "outputs whole, by NKIBench's rule: numpy's seeds 0 21 42 63 84, relative L2 under 2e-5";

  /// `definition` has to stay. @error unsupported: an input is drawn as the benchmark draws none, or the reference of
  /// a raced workload would not end in time.
  static base::Result<WholeOutputs> create(const model::Definition& definition,
                                           const std::vector<model::Workload>& workloads,
                                           evaluation::HostReference reference);

  /// Executes the whole program for one seed after the other. Why its results are not the reference's; "": they are.
  /// @error invalid_argument: the reference crashed or did not end; cancelled.
  base::Result<std::string> check(const Program& program, const model::Workload& workload, const std::stop_token& stop);

 private:
  using Tensors = std::vector<std::vector<float>>;

  WholeOutputs(const model::Definition& definition, evaluation::HostReference reference)
      : definition_(&definition), reference_(std::move(reference)) {}
  /// As the benchmark's get_inputs does after np.random.seed(seed), in the definition's order; a scalar has one
  /// element.
  [[nodiscard]] Tensors inputs_of(const model::AxisValues& axes, std::uint32_t seed) const;
  base::Result<Tensors> expected_of(const model::Workload& workload, const model::AxisValues& axes, std::uint32_t seed,
                                    const Tensors& inputs);

  const model::Definition* definition_;
  evaluation::HostReference reference_;
  std::map<std::pair<std::string, std::uint32_t>, Tensors> known_;  ///< by workload and seed, while there is room
  std::size_t known_bytes_ = 0;
};

}  // namespace accelopt::targets::trainium
