// SPDX-License-Identifier: Apache-2.0
#include "base/tar.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace accelopt::base {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kLongestName = 99;  // with its end in a field of 100 bytes

// A header's fields: place and length in bytes, as POSIX (pax, "ustar interchange format") states them.
constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kSizeAt = 124, kSizeBytes = 12;
constexpr std::size_t kChecksumAt = 148, kChecksumBytes = 8;
constexpr std::size_t kTypeAt = 156;
constexpr char kRegularFile = '0';

std::size_t padded(std::size_t size) {
  return (size + kBlock - 1) / kBlock * kBlock;
}

/// The number in octal digits that fill the field but for its last byte.
void put_octal(std::string& header, std::size_t at, std::size_t digits, std::size_t value) {
  for (std::size_t i = digits; i > 0; --i, value /= 8) header[at + i - 1] = static_cast<char>('0' + value % 8);
}

/// None: the field holds anything but octal digits and an end.
std::optional<std::size_t> octal(std::string_view field) {
  if (field.back() != '\0') return std::nullopt;
  std::size_t value = 0;
  for (const char c : field.substr(0, field.size() - 1)) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<std::size_t>(c - '0');
  }
  return value;
}

std::size_t sum_of(std::string header) {
  std::fill_n(header.begin() + kChecksumAt, kChecksumBytes, ' ');
  std::size_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  return sum;
}

/// The one header of a member: a regular file that its owner may write, of nobody and of no time.
std::string header_of(std::string_view name, std::size_t size) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put_octal(header, kSizeAt, kSizeBytes - 1, size);
  put(136, "00000000000");
  header[kTypeAt] = kRegularFile;
  put(257, std::string_view("ustar\00000", 8));
  put_octal(header, kChecksumAt, 6, sum_of(header));
  header[kChecksumAt + 7] = ' ';
  return header;
}

/// Why it can be no member's name; empty: it can.
std::string fault_of_name(std::string_view name) {
  if (name.empty()) return "it has no name";
  if (name.size() > kLongestName) return "its name is longer than " + std::to_string(kLongestName) + " bytes";
  if (name.front() == '/') return "its name is an absolute path";
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part == "..") return "its name leads out of the archive (..)";
    if (part.empty() || part == ".") return "its name is no plain relative path";
    at = end + 1;
  }
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-' || c == '/';
  });
  return plain ? "" : "its name has other characters than letters, digits and . _ - /";
}

/// What a member is that is no regular file; empty: it is one.
std::string fault_of_type(char type) {
  switch (type) {
    case kRegularFile:
      return "";
    case '1':
      return "it is a hard link";
    case '2':
      return "it is a symbolic link";
    case '3':
    case '4':
      return "it is a device";
    case '5':
      return "it is a folder";
    case '6':
      return "it is a FIFO";
    default:
      return "it is no regular file";
  }
}

/// Reads members one by one, from a text that nothing is known of.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Result<std::vector<TarMember>> read() {
    if (bytes_.size() > kMostTarBytes)
      return refuse("the archive has over " + std::to_string(kMostTarBytes >> 20) + " MiB");
    for (;;) {
      TRY_ASSIGN(const std::string_view header, take(kBlock, "a header"));
      if (is_zero(header)) break;
      if (members_.size() == kMostTarMembers)
        return refuse("the archive has over " + std::to_string(kMostTarMembers) + " members");
      TRY(read_member(header));
    }
    TRY_ASSIGN(const std::string_view end, take(kBlock, "the end"));
    if (!is_zero(end) || at_ != bytes_.size()) return refuse("there are trailing bytes behind the last member");
    return std::move(members_);
  }

 private:
  static tl::unexpected<Error> refuse(std::string reason) { return fail(ErrorCode::corrupt, std::move(reason)); }
  static bool is_zero(std::string_view block) { return block.find_first_not_of('\0') == std::string_view::npos; }

  Result<std::string_view> take(std::size_t size, const std::string& what) {
    if (bytes_.size() - at_ < size) return refuse("the archive is truncated: it ends within " + what);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  /// Its bytes lie behind the header, filled up with zeros.
  Result<void> read_member(std::string_view header) {
    const std::string_view field = header.substr(0, kNameBytes);
    const std::string name(field.substr(0, std::min(field.find('\0'), field.size())));
    const auto refuse_member = [&](const std::string& why) {
      return refuse("member " + std::to_string(members_.size() + 1) + ": " + why);
    };
    if (std::string fault = fault_of_name(name); !fault.empty()) return refuse_member(fault);
    if (std::string fault = fault_of_type(header[kTypeAt]); !fault.empty()) return refuse(name + ": " + fault);
    if (std::any_of(members_.begin(), members_.end(), [&](const TarMember& other) { return other.name == name; }))
      return refuse(name + ": it appears twice");
    if (!members_.empty() && members_.back().name > name) return refuse(name + ": members are not sorted by name");
    const auto size = octal(header.substr(kSizeAt, kSizeBytes));
    if (!size) return refuse(name + ": its size is no octal number");
    if (*size > kMostTarBytes) return refuse(name + ": it states a size of over 256 MiB");
    if (header != header_of(name, *size))
      return refuse(name + ": its header is not as accelopt writes it (mode, owner, time, checksum or padding)");
    TRY_ASSIGN(const std::string_view body, take(padded(*size), name));
    if (!is_zero(body.substr(*size))) return refuse(name + ": there are bytes hidden behind its end");
    members_.push_back({name, std::string(body.substr(0, *size))});
    return {};
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::vector<TarMember> members_;
};

}  // namespace

Result<std::string> write_tar(std::vector<TarMember> members) {
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  if (members.size() > kMostTarMembers)
    return fail(ErrorCode::exhausted, "an archive has at most " + std::to_string(kMostTarMembers) + " members");
  std::string out;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& [name, bytes] = members[i];
    std::string fault = fault_of_name(name);
    if (i > 0 && members[i - 1].name == name) fault = "it appears twice";
    if (!fault.empty()) return fail(ErrorCode::unsupported, "\"" + name + "\" cannot be put into an archive: " + fault);
    if (out.size() + padded(bytes.size()) + 3 * kBlock > kMostTarBytes)
      return fail(ErrorCode::exhausted, "an archive has at most " + std::to_string(kMostTarBytes >> 20) + " MiB");
    out += header_of(name, bytes.size());
    out += bytes;
    out.resize(padded(out.size()), '\0');
  }
  out.append(2 * kBlock, '\0');
  return out;
}

Result<std::vector<TarMember>> read_tar(std::string_view bytes) {
  return Reader(bytes).read();
}

}  // namespace accelopt::base
