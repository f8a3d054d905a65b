// SPDX-License-Identifier: Apache-2.0
#include "syntax/libclang.hpp"

namespace accelopt::syntax {

base::Result<Api> Api::bind(const Clang& clang) {
  Api api;
#define ACCELOPT_BIND(name)                                                      \
  api.name = reinterpret_cast<decltype(api.name)>(clang.symbol("clang_" #name)); \
  if (api.name == nullptr) return base::fail(base::ErrorCode::unsupported, clang.library() + " lacks clang_" #name);
  ACCELOPT_CLANG_FUNCTIONS(ACCELOPT_BIND)
#undef ACCELOPT_BIND
  return api;
}

}  // namespace accelopt::syntax
