// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/address.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "http/url.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::string_view kPlain = "surreal://";
constexpr std::string_view kEncrypted = "surreal+https://";
constexpr std::string_view kForm = "write it as surreal://user@host:8000/namespace/database";

/// The text with %XX replaced, or none where one is malformed.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned int byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || problem != std::errc() || end != digits.data() + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

/// A part that travels in a header: printable ASCII. @error invalid_argument.
Result<std::string> part_of(std::string_view text, std::string_view what) {
  const std::optional<std::string> part = percent_decoded(text);
  const bool printable =
      part && !part->empty() && std::ranges::all_of(*part, [](char c) { return c >= ' ' && c <= '~'; });
  if (!printable) {
    return fail(ErrorCode::invalid_argument, "the " + std::string(what) + " in the address of the SurrealDB store is " +
                                                 "empty or not plain text; " + std::string(kForm));
  }
  return *part;
}

}  // namespace

bool is_address(std::string_view text) {
  return text.starts_with(kPlain) || text.starts_with(kEncrypted);
}

base::Result<Address> parse_address(std::string_view text) {
  const bool encrypted = text.starts_with(kEncrypted);
  if (!is_address(text)) {
    return fail(ErrorCode::invalid_argument, "this is no address of a SurrealDB store; " + std::string(kForm));
  }
  // The address itself is not repeated in messages: it may hold a password.
  std::string_view rest = text.substr(encrypted ? kEncrypted.size() : kPlain.size());
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  std::string_view path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  if (path.ends_with('/')) path.remove_suffix(1);
  Address address;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = authority.substr(0, at);
    if (user.find(':') != std::string_view::npos) {
      return fail(ErrorCode::invalid_argument,
                  "the address of the SurrealDB store holds a password; take it out and put it into the environment "
                  "variable ACCELOPT_SURREAL_PASSWORD");
    }
    TRY_ASSIGN(address.user, part_of(user, "user name"));
    authority = authority.substr(at + 1);
  }
  const std::size_t middle = path.find('/');
  if (middle == std::string_view::npos || path.find('/', middle + 1) != std::string_view::npos ||
      path.find_first_of("?#") != std::string_view::npos) {
    return fail(ErrorCode::invalid_argument,
                "the address of the SurrealDB store must name one namespace and one database; " + std::string(kForm));
  }
  TRY_ASSIGN(address.name_space, part_of(path.substr(0, middle), "namespace"));
  TRY_ASSIGN(address.database, part_of(path.substr(middle + 1), "database"));
  const bool has_port =
      authority.find(':', authority.rfind(']') == std::string_view::npos ? 0 : authority.rfind(']')) !=
      std::string_view::npos;
  const std::string host = std::string(authority) + (has_port ? "" : encrypted ? ":443" : ":8000");
  address.url = (encrypted ? "https://" : "http://") + host;
  const auto origin = http::origin_of(address.url);
  if (authority.empty() || !origin) {
    return fail(ErrorCode::invalid_argument,
                "the host in the address of the SurrealDB store cannot be read; " + std::string(kForm));
  }
  address.url = origin->scheme + "://" + http::to_string(*origin);
  address.name = std::string(text);
  return address;
}

}  // namespace accelopt::memory::surreal
