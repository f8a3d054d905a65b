// SPDX-License-Identifier: Apache-2.0
// Integer inputs that name places in another tensor, drawn over as many as that has in every workload.
#pragma once

#include <string>
#include <vector>

#include "scaffold/signature.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// Where `integers(low, high)` is stated of an input that the function uses in a subscript of a tensor, and high is the
/// raced extent of a variable axis of that, high becomes the axis's name: "integers(0, 1000)" is then "integers(0, V)".
/// Gives a note for every such input.
std::vector<std::string> name_index_ranges(const syntax::Function& function, const Signature& signature,
                                           Stated& stated);

}  // namespace accelopt::scaffold
