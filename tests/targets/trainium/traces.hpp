// SPDX-License-Identifier: Apache-2.0
// Traces of small kernels, as the front end leaves them.
#pragma once

#include <string>
#include <vector>

#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

inline const std::vector<Extent> kInputs{{"x", {128, 8}}};
inline const std::vector<Extent> kOutputs{{"y", {128, 8}}};

/// y = x / (1 + exp(-x)) of one tile.
inline base::Json silu_trace() {
  return base::Json::parse(R"({
    "outputs": [1],
    "buffers": [["input", "x", 0, null, [128, 8]], ["output", "y", 3, null, [128, 8]], ["sbuf", "load", 4, null, [128, 8]],
                ["sbuf", "activation", 5, null, [128, 8]], ["sbuf", "sum", 6, null, [128, 8]],
                ["sbuf", "share", 7, null, [128, 8]], ["sbuf", "result", 8, null, [128, 8]]],
    "views": [[0, 0, 128, 8, 8, 1], [1, 0, 128, 8, 8, 1], [2, 0, 128, 8, 8, 1], [3, 0, 128, 8, 8, 1], [4, 0, 128, 8, 8, 1],
              [5, 0, 128, 8, 8, 1], [6, 0, 128, 8, 8, 1]],
    "loops": [], "iterations": [[0, -1, 0]],
    "instructions": [["load", 4, 0, 2, [0], [], [], 0], ["activation", 5, 0, 3, [2], ["exp"], [-1.0], 0],
                     ["tensor_scalar", 6, 0, 4, [3], ["add"], [1.0], 0],
                     ["activation", 7, 0, 5, [4], ["reciprocal"], [1.0], 0],
                     ["tensor_tensor", 8, 0, 6, [2, 5], ["multiply"], [], 0], ["store", 9, 0, 1, [6], [], [], 0]]})");
}

inline Program program_of(const base::Json& trace) {
  return read_program(trace, kInputs, kOutputs).value();
}

}  // namespace accelopt::targets::trainium
