// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/nvrtc_protocol.hpp"

#include <charconv>

namespace accelopt::targets::cuda {
namespace {

constexpr std::string_view kRequestMark = "accelopt-nvrtc-request-1\n";
constexpr std::string_view kReplyMark = "accelopt-nvrtc-reply-1\n";

void put(std::string& out, std::string_view text) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

/// Takes texts from the front of a message. Once one is missing, all later ones are.
class Unpacker {
 public:
  Unpacker(std::string_view bytes, std::string_view mark) : rest_(bytes), good_(bytes.starts_with(mark)) {
    if (good_) rest_.remove_prefix(mark.size());
  }

  std::string text() {
    std::size_t size = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [behind, failure] = std::from_chars(rest_.data(), end, size);
    const std::size_t digits = static_cast<std::size_t>(behind - rest_.data());
    good_ = good_ && failure == std::errc{} && behind != end && *behind == ':' && rest_.size() - digits - 1 >= size;
    if (!good_) return {};
    std::string out(rest_.substr(digits + 1, size));
    rest_.remove_prefix(digits + 1 + size);
    return out;
  }

  int number() {
    const std::string digits = text();
    int value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [behind, failure] = std::from_chars(digits.data(), end, value);
    good_ = good_ && failure == std::errc{} && behind == end;
    return good_ ? value : 0;
  }

  /// A number of entries, none of which is shorter than two bytes.
  std::size_t count() {
    const int value = number();
    good_ = good_ && value >= 0 && static_cast<std::size_t>(value) <= rest_.size() / 2;
    return good_ ? static_cast<std::size_t>(value) : 0;
  }

  [[nodiscard]] bool complete() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_;
};

}  // namespace

std::string pack(const NvrtcRequest& request) {
  std::string out(kRequestMark);
  for (const std::string* text : {&request.library, &request.name, &request.source}) put(out, *text);
  put(out, std::to_string(request.options.size()));
  for (const std::string& option : request.options) put(out, option);
  put(out, std::to_string(request.headers.size()));
  for (const auto& [name, text] : request.headers) {
    put(out, name);
    put(out, text);
  }
  return out;
}

std::string pack(const NvrtcReply& reply) {
  std::string out(kReplyMark);
  put(out, reply.failure);
  put(out, reply.library);
  for (const int number : {reply.major, reply.minor, static_cast<int>(reply.architectures.size())})
    put(out, std::to_string(number));
  for (const int architecture : reply.architectures) put(out, std::to_string(architecture));
  put(out, std::to_string(reply.result));
  put(out, reply.log);
  put(out, reply.cubin);
  return out;
}

std::optional<NvrtcRequest> unpack_request(std::string_view bytes) {
  Unpacker in(bytes, kRequestMark);
  NvrtcRequest out;
  for (std::string* text : {&out.library, &out.name, &out.source}) *text = in.text();
  out.options.resize(in.count());
  for (std::string& option : out.options) option = in.text();
  out.headers.resize(in.count());
  for (auto& [name, text] : out.headers) {
    name = in.text();
    text = in.text();
  }
  return in.complete() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<NvrtcReply> unpack_reply(std::string_view bytes) {
  Unpacker in(bytes, kReplyMark);
  NvrtcReply out;
  out.failure = in.text();
  out.library = in.text();
  out.major = in.number();
  out.minor = in.number();
  out.architectures.resize(in.count());
  for (int& architecture : out.architectures) architecture = in.number();
  out.result = in.number();
  out.log = in.text();
  out.cubin = in.text();
  return in.complete() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace accelopt::targets::cuda
