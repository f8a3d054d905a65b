// SPDX-License-Identifier: Apache-2.0
// A user's function as the text of a kernel.
#pragma once

#include <string>

#include "base/result.hpp"
#include "scaffold/signature.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// The function's definition as the kernel (or, named "reference", the reference): parameters in the order of the
/// contract, what the body calls by other types converted first, then the body as it is; what it returns is written
/// through a pointer. @error unsupported: it returns from where that cannot be done.
base::Result<std::string> kernel_definition(const Signature& signature, const std::string& name,
                                            const syntax::Unit& unit, const syntax::Function& function);

/// Includes that the definition needs and the text before it lacks.
std::string needed_includes(const std::string& definition, const std::string& before);

}  // namespace accelopt::scaffold
