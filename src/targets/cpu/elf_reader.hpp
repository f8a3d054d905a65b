// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace accelopt::targets::cpu {

/// Bounds-checked reading of a file whose numbers anybody may have chosen.
class ElfReader {
 public:
  explicit ElfReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes_.data() + offset, sizeof out);
    return out;
  }

  /// The text at `offset` of a table of `bytes` bytes that begins at `table`; empty where there is none.
  [[nodiscard]] std::string text(std::uint64_t table, std::uint64_t bytes, std::uint64_t offset) const {
    if (offset >= bytes || table >= bytes_.size() || offset >= bytes_.size() - table) return {};
    const std::string_view rest = bytes_.substr(table + offset, bytes - offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

 private:
  std::string_view bytes_;
};

}  // namespace accelopt::targets::cpu
