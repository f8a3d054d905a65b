// SPDX-License-Identifier: Apache-2.0
// What a function's calls do to a tensor before the function itself uses an element of it.
#pragma once

#include <cstddef>

#include "scaffold/signature.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

enum class EarlierCall {
  none,
  fills,   ///< memset, std::fill, std::fill_n or std::ranges::fill of every element, whatever the data
  unknown  ///< another one, or a fill that may be of a part
};

/// The first call that is given the parameter, among those that begin before the offset `end` of the file.
EarlierCall earlier_call(const syntax::Unit& unit, const syntax::Function& function, const Signature& signature,
                         const KernelParameter& parameter, std::size_t end);

}  // namespace accelopt::scaffold
