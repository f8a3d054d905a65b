// SPDX-License-Identifier: Apache-2.0
// Winners that stand in a user's file already.
#pragma once

#include <string>

namespace accelopt::scaffold {

/// A plain text as it was before winners were put into it: without what stands below a patch's mark ("// Made faster by
/// accelopt") and belongs to the winner, and without the condition by which a function calls it. Where a function has
/// no other code left (it calls its winner always), that call stays; so does all that has no mark, whatever it is
/// called.
std::string without_winners(const std::string& source);

}  // namespace accelopt::scaffold
