// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "model/vocabulary.hpp"

namespace accelopt::model {

/// What raced outputs are held against that are too large to be executed with every call. places: the task's own rule,
/// at random places. nkibench: the public NKI benchmark's, whole, on its own inputs.
enum class OutputCheck { places, nkibench };

template <>
struct Names<OutputCheck> {
  static constexpr std::array<std::pair<OutputCheck, std::string_view>, 2> kTable{{
      {OutputCheck::places, "places"},
      {OutputCheck::nkibench, "nkibench"},
  }};
};

}  // namespace accelopt::model
