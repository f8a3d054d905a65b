// SPDX-License-Identifier: Apache-2.0
// output (batch_size, hidden_size): each row of hidden_states divided by its root mean square, times weight.
#include <cmath>

#include "task.h"

extern "C" void reference(const real* hidden_states, const real* weight, real* output, int64_t batch_size) {
  for (int64_t i = 0; i < batch_size; ++i) {
    const real* const x = hidden_states + i * hidden_size;
    real squares = 0;
    for (int64_t j = 0; j < hidden_size; ++j) squares += x[j] * x[j];
    const real rms = std::sqrt(squares / hidden_size + real(1e-6));
    for (int64_t j = 0; j < hidden_size; ++j) output[i * hidden_size + j] = x[j] / rms * weight[j];
  }
}
