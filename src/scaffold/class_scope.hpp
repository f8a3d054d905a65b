// SPDX-License-Identifier: Apache-2.0
// Classes as namespaces, so that a static member function can be moved out of its class.
#pragma once

#include <string>

#include "base/result.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// The text with the classes around the static member function turned into namespaces of the same names. Of a class
/// only its static members and types stay, declarations before functions and the function last: its body could use what
/// the class declares further down.
/// @error unsupported: a class around it is a template or has no body in this text.
base::Result<std::string> with_classes_as_namespaces(const syntax::Unit& unit, const syntax::Function& member);

}  // namespace accelopt::scaffold
