// SPDX-License-Identifier: Apache-2.0
// The fourteen operators of the public NKI benchmark as our references compute them.
#pragma once

#include <string_view>
#include <vector>

namespace accelopt::suites::nkibench {

struct Tensor {
  std::string_view name;
  std::string_view axes;  ///< letters, outermost first; "": a scalar
  std::string_view init = "normal(0, 1)";
};

struct Letter {
  char axis;
  std::string_view extent;  ///< over the benchmark's values; "": the value of that name
};

/// An operator computes each place of `rows` on its own.
struct Operator {
  std::string_view name;
  std::string_view description;
  std::vector<Letter> letters;
  std::vector<Tensor> inputs;  ///< as NKIBench's get_inputs returns them
  std::string_view output;     ///< its axes; the tensor is `out`
  std::string_view rows;
  std::string_view flops;  ///< over the letters
  std::string_view body;   ///< of the reference, over the letters and the tensors, row-major
};

/// Null: there is none of that name.
const Operator* find_operator(std::string_view name);

/// Before every reference: `product(a, b, c, m, k, n)` is c (m, n) = a (m, k) b (k, n).
extern const std::string_view kReferenceHead;

}  // namespace accelopt::suites::nkibench
