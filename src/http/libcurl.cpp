// SPDX-License-Identifier: Apache-2.0
#include "http/libcurl.hpp"

#include <dlfcn.h>

#include <string>

namespace accelopt::http {
namespace {

using base::ErrorCode;
using base::fail;

constexpr const char* kLibrary = "libcurl.so.4";

CurlApi& api() {
  static CurlApi opened;
  return opened;
}

base::Result<void> open() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // stays open
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return fail(ErrorCode::unavailable, std::string("servers are spoken to through libcurl, which cannot be opened (") +
                                            (reason == nullptr ? kLibrary : reason) +
                                            "); install it (Debian: libcurl4)");
  }
  CurlApi bound;
#define ACCELOPT_BIND(name)                                                             \
  bound.name = reinterpret_cast<decltype(bound.name)>(::dlsym(library, "curl_" #name)); \
  if (bound.name == nullptr)                                                            \
    return fail(ErrorCode::unavailable,                                                 \
                std::string(kLibrary) + " of this machine lacks curl_" #name "; install a newer one");
  ACCELOPT_CURL_FUNCTIONS(ACCELOPT_BIND)
#undef ACCELOPT_BIND
  if (const CURLcode code = bound.global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK)
    return fail(ErrorCode::internal, std::string("libcurl does not start: ") + bound.easy_strerror(code));
  api() = bound;
  return {};
}

}  // namespace

base::Result<void> open_libcurl() {
  static const base::Result<void> opened = open();
  return opened;
}

const CurlApi& curl() {
  return api();
}

}  // namespace accelopt::http
