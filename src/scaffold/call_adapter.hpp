// SPDX-License-Identifier: Apache-2.0
// The user's function around the winner: when it is called, and with what.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/task.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

struct AdaptedBody {
  std::string body;    ///< of the user's function, with its braces
  std::string helper;  ///< what the body calls besides the winner; it goes before the function. Often empty.
  std::string note;    ///< for people: for which sizes the winner is called
};

/// A body that calls the winner where it does what the old body does, and else is the old body. The winner is called if
/// the task's constants hold, no variable axis is shorter or longer than in every workload of the task, axes are equal
/// that are so in every workload, no tensor has more elements than there, scalars have values that the task draws,
/// containers have the sizes that the axes say, no pointer is null that the old body tests for it, and no tensor that
/// is written overlaps another one, unless both are declared `restrict`. `prefix` names what belongs to the winner.
/// @error invalid_argument: the signature does not fit [entry]; as refuse_fixed_tensors.
base::Result<AdaptedBody> adapted_body(const model::Task& task, const syntax::Unit& unit,
                                       const syntax::Function& function, const std::string& callee,
                                       const std::string& prefix);

}  // namespace accelopt::scaffold
