// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <random>

#include <openssl/evp.h>

#include "base/result.hpp"

namespace accelopt::base {
namespace {

std::array<unsigned char, 32> sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  // Looked up once: that costs more than a short text's digest.
  static EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                                     &EVP_MD_CTX_free);
  const int done = method != nullptr && context != nullptr && EVP_DigestInit_ex2(context.get(), method, nullptr) == 1 &&
                           EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1
                       ? EVP_DigestFinal_ex(context.get(), digest.data(), &size)
                       : 0;
  ACCELOPT_ASSERT(done == 1 && size == digest.size(), "SHA-256 is not available from the crypto library");
  return digest;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const unsigned char byte : sha256(bytes)) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::uint64_t derive_seed(std::uint64_t seed, std::string_view label) {
  std::string text(sizeof seed, '\0');
  std::memcpy(text.data(), &seed, sizeof seed);
  text.append(label);
  const auto digest = sha256(text);
  std::uint64_t value = 0;
  std::memcpy(&value, digest.data(), sizeof value);
  return value;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace accelopt::base
