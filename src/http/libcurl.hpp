// SPDX-License-Identifier: Apache-2.0
// libcurl, opened when something is first sent: a program that talks to no server needs it on no machine.
#pragma once

#include <curl/curl.h>

#include "base/result.hpp"

namespace accelopt::http {

#define ACCELOPT_CURL_FUNCTIONS(X) \
  X(easy_cleanup)                  \
  X(easy_init)                     \
  X(easy_reset)                    \
  X(easy_setopt)                   \
  X(easy_strerror)                 \
  X(free)                          \
  X(global_init)                   \
  X(multi_add_handle)              \
  X(multi_cleanup)                 \
  X(multi_info_read)               \
  X(multi_init)                    \
  X(multi_perform)                 \
  X(multi_poll)                    \
  X(multi_remove_handle)           \
  X(multi_wakeup)                  \
  X(slist_append)                  \
  X(slist_free_all)                \
  X(url)                           \
  X(url_cleanup)                   \
  X(url_get)                       \
  X(url_set)

/// Functions of libcurl by their names without the prefix.
struct CurlApi {
#define ACCELOPT_DECLARE(name) decltype(&::curl_##name) name = nullptr;
  ACCELOPT_CURL_FUNCTIONS(ACCELOPT_DECLARE)
#undef ACCELOPT_DECLARE
};

/// Opens libcurl at the first call, started and ready; every call gives the same answer. May be called by many threads.
/// @error unavailable: this machine has no libcurl, or one without a function that is needed; internal: it does not
/// start.
base::Result<void> open_libcurl();

/// What open_libcurl opened; to be called after it succeeded.
const CurlApi& curl();

}  // namespace accelopt::http
