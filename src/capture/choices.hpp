// SPDX-License-Identifier: Apache-2.0
// What autotuned kernels of a captured solution leave open, as values for the tuner.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/tuning.hpp"

namespace accelopt::capture {

/// An autotuned kernel, and the values that each of its configurations binds.
struct Choice {
  std::string name;
  std::vector<std::map<std::string, base::Json>> configurations;
};

/// The choices of a captured solution (docs/triton.md). @error corrupt: they are not what an answer has.
base::Result<std::vector<Choice>> choices_of(const base::Json& ok);

/// Which configuration each choice takes, by its place there.
using Selection = std::vector<std::size_t>;
/// Of a choice: the first that is there.
inline constexpr std::size_t kAnyConfiguration = ~std::size_t{0};

/// The same selection where the choices are met in another order: by their names. One that was not known takes any.
Selection reordered(const Selection& selection, const std::vector<Choice>& known, const std::vector<Choice>& here);

/// All choices together.
struct OpenChoices {
  model::TuningSpace space;           ///< no names: nothing is left open
  std::vector<Selection> selections;  ///< a selection for each of the space's configurations
};

/// A choice of one configuration leaves nothing open. The names are those of the values that differ, where they are
/// whole numbers and tell the configurations apart, else the kernel's name, with the configuration's place as its
/// value. Where all choices together have more combinations than the tuner takes, the later ones keep their first
/// configuration.
OpenChoices opened(const std::vector<Choice>& choices);

}  // namespace accelopt::capture
