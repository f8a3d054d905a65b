// SPDX-License-Identifier: Apache-2.0
// What targets share whose kernels are front ends' Python: the reference runs on the processor, and nothing of the
// machine is set up for measuring.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evaluation/target.hpp"

namespace accelopt::evaluation {

class HostTarget : public Target {
 public:
  /// Empty: a kernel of Python includes nothing.
  [[nodiscard]] const std::string& task_header() const final { return header_; }
  [[nodiscard]] std::int64_t last_level_bytes() const final { return 0; }
  void settle_helper_thread() final {}
  [[nodiscard]] int build_threads() const final { return 1; }
  base::Result<std::vector<ReferenceTensor>> reference(Precision precision, const std::vector<ReferenceTensor>& inputs,
                                                       const Invocation& invocation) final {
    return reference_(precision, inputs, invocation);
  }
  std::unique_ptr<Hold> quiet() final { return std::make_unique<Hold>(); }

 protected:
  /// Both belong to the task that was opened.
  model::Definition definition_;
  HostReference reference_;

 private:
  std::string header_;
};

}  // namespace accelopt::evaluation
