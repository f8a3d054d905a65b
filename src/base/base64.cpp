// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"

#include <openssl/evp.h>

#include <limits>

namespace accelopt::base {

Result<std::string> from_base64(std::string_view text) {
  // The library passes over white space and reads padding as zeros.
  const std::size_t end = text.find_last_not_of('=') + 1;
  const bool plain = text.find_first_of(" \t\r\n=") >= end;
  if (!plain || text.size() % 4 != 0 || text.size() - end > 2 || text.size() > std::numeric_limits<int>::max())
    return fail(ErrorCode::parse, "not base64");
  std::string out(text.size() / 4 * 3, '\0');
  const int got = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                  reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (got < 0 || static_cast<std::size_t>(got) != out.size()) return fail(ErrorCode::parse, "not base64");
  out.resize(out.size() - (text.size() - end));
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // the library ends it by a zero
  const int got = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                  reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(got));
  return out;
}

}  // namespace accelopt::base
