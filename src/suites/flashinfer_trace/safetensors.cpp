// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/safetensors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "base/text.hpp"
#include "suites/flashinfer_trace/fields.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

/// Headers of real files are a few hundred bytes; one of a whole model's checkpoint some hundred KiB.
constexpr std::uint64_t kLargestHeader = std::uint64_t{8} << 20;
constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kLfsMark = "version https://git-lfs";

struct StoredDType {
  std::string_view name;
  std::uint64_t bytes;
  std::optional<model::DType> dtype;
};
using model::DType;
constexpr std::array kStoredDTypes{
    StoredDType{"F64", 8, DType::float64},
    StoredDType{"F32", 4, DType::float32},
    StoredDType{"F16", 2, DType::float16},
    StoredDType{"BF16", 2, DType::bfloat16},
    StoredDType{"F8_E4M3", 1, DType::float8_e4m3fn},
    StoredDType{"F8_E5M2", 1, DType::float8_e5m2},
    StoredDType{"I64", 8, DType::int64},
    StoredDType{"I32", 4, DType::int32},
    StoredDType{"I16", 2, DType::int16},
    StoredDType{"I8", 1, DType::int8},
    StoredDType{"U64", 8, DType::uint64},
    StoredDType{"U32", 4, DType::uint32},
    StoredDType{"U16", 2, DType::uint16},
    StoredDType{"U8", 1, DType::uint8},
    StoredDType{"BOOL", 1, DType::boolean},
};

const StoredDType* find_stored(std::string_view name) {
  const auto found =
      std::find_if(kStoredDTypes.begin(), kStoredDTypes.end(), [&](const auto& one) { return one.name == name; });
  return found == kStoredDTypes.end() ? nullptr : &*found;
}

tl::unexpected<base::Error> lies(std::string why) {
  return base::fail(base::ErrorCode::corrupt, std::move(why));
}

base::Result<void> read_bytes(int file, std::uint64_t offset, std::span<char> out) {
  while (!out.empty()) {
    const ssize_t count = ::pread(file, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, "cannot be read");
    if (count == 0) return lies("ends before its data does");
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

/// One entry of the header.
base::Result<StoredTensor> read_entry(const std::string& name, const OrderedJson& value, std::uint64_t data_bytes) {
  std::string problem;
  Fields fields(value, base::ascii_line(name, 80), problem);
  StoredTensor out;
  out.dtype = fields.text("dtype");
  const StoredDType* const stored = find_stored(out.dtype);
  if (stored == nullptr) fields.refuse("dtype", "is unknown: " + base::ascii_line(out.dtype, 40));
  std::uint64_t bytes = stored == nullptr ? 0 : stored->bytes;
  for (const OrderedJson& extent : fields.array("shape")) {
    const auto count = lax_count(extent);
    if (!count || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(*count), &bytes)) {
      fields.refuse("shape", "is none, or too large");
      break;
    }
    out.shape.push_back(*count);
  }
  const OrderedJson& offsets = fields.array("data_offsets");
  const bool two = offsets.size() == 2;
  const std::int64_t begin = two ? lax_count(offsets[0]).value_or(-1) : -1;
  const std::int64_t end = two ? lax_count(offsets[1]).value_or(-1) : -1;
  if (begin < 0 || begin > end || static_cast<std::uint64_t>(end) > data_bytes) {
    fields.refuse("data_offsets", "lie outside the data, which has " + std::to_string(data_bytes) + " bytes");
  } else {
    out.begin = static_cast<std::uint64_t>(begin);
    out.end = static_cast<std::uint64_t>(end);
    if (out.end - out.begin != bytes) {
      fields.refuse("data_offsets",
                    "span " + std::to_string(out.end - out.begin) + " bytes, dtype and shape " + std::to_string(bytes));
    }
  }
  if (!problem.empty()) return lies("header: " + problem);
  return out;
}

/// Tensors follow each other without overlap or gap, up to the file's end.
base::Result<void> check_layout(const std::map<std::string, StoredTensor>& tensors, std::uint64_t data_bytes) {
  std::vector<const StoredTensor*> ordered;
  for (const auto& [name, tensor] : tensors) ordered.push_back(&tensor);
  std::sort(ordered.begin(), ordered.end(),
            [](const auto* a, const auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  std::uint64_t end = 0;
  for (const StoredTensor* tensor : ordered) {
    if (tensor->begin < end) return lies("header: two tensors overlap");
    if (tensor->begin > end) return lies("header: bytes between two tensors belong to none");
    end = tensor->end;
  }
  if (end != data_bytes) return lies("has " + std::to_string(data_bytes - end) + " bytes that belong to no tensor");
  return {};
}

template <class T>
std::vector<double> numbers(const std::vector<char>& bytes) {
  std::vector<double> out(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
  return out;
}

base::Result<void> check_exact(const std::vector<char>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::int64_t)) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (!fits_double(value))
      return base::fail(base::ErrorCode::invalid_argument,
                        "holds " + std::to_string(value) + ", a whole number beyond 2^53 that a task would round");
  }
  return {};
}

}  // namespace

base::Result<Safetensors> Safetensors::open(const std::filesystem::path& file) {
  Safetensors out;
  out.file_ = base::FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!out.file_.valid()) return base::fail_errno(errno, "cannot be opened");
  struct stat facts {};
  if (::fstat(out.file_.get(), &facts) != 0) return base::fail_errno(errno, "cannot be read");
  if (!S_ISREG(facts.st_mode)) return base::fail(base::ErrorCode::io, "is no regular file");
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  std::string mark(static_cast<std::size_t>(std::min<std::uint64_t>(size, kLfsMark.size())), '\0');
  TRY(read_bytes(out.file_.get(), 0, mark));
  if (mark == kLfsMark) return base::fail(base::ErrorCode::not_found, kLfsPointer);
  if (size < kLengthBytes) return lies("is shorter than the length of a header");
  std::array<char, kLengthBytes> length_bytes{};
  TRY(read_bytes(out.file_.get(), 0, length_bytes));
  const auto length = std::bit_cast<std::uint64_t>(length_bytes);
  if (length > size - kLengthBytes)
    return lies("states a header of " + std::to_string(length) + " bytes and has fewer");
  if (length > kLargestHeader)
    return lies("states a header of " + std::to_string(length) + " bytes, which is too large");
  std::string header(static_cast<std::size_t>(length), '\0');
  TRY(read_bytes(out.file_.get(), kLengthBytes, header));
  out.data_begin_ = kLengthBytes + length;
  const std::uint64_t data_bytes = size - out.data_begin_;
  auto json = parse_bounded(header);
  if (!json || !json->is_object()) return lies("header: " + (json ? "is no object" : json.error().message));
  for (const auto& [name, value] : json->items()) {
    if (name == "__metadata__") continue;
    TRY_ASSIGN(StoredTensor tensor, read_entry(name, value, data_bytes));
    out.tensors_.emplace(name, std::move(tensor));
  }
  TRY(check_layout(out.tensors_, data_bytes));
  return out;
}

base::Result<std::vector<double>> Safetensors::read(const StoredTensor& tensor) const {
  ACCELOPT_ASSERT(is_readable(tensor.dtype), "a tensor of a dtype that cannot be read");
  std::vector<char> bytes(static_cast<std::size_t>(tensor.end - tensor.begin));
  TRY(read_bytes(file_.get(), data_begin_ + tensor.begin, bytes));
  if (tensor.dtype == "F64") return numbers<double>(bytes);
  if (tensor.dtype == "F32") return numbers<float>(bytes);
  if (tensor.dtype == "I64") {
    TRY(check_exact(bytes));
    return numbers<std::int64_t>(bytes);
  }
  if (tensor.dtype == "I32") return numbers<std::int32_t>(bytes);
  if (tensor.dtype == "I16") return numbers<std::int16_t>(bytes);
  if (tensor.dtype == "I8") return numbers<std::int8_t>(bytes);
  return numbers<std::uint8_t>(bytes);
}

std::string_view safetensors_name(model::DType dtype) {
  for (const StoredDType& one : kStoredDTypes) {
    if (one.dtype == dtype) return one.name;
  }
  return "";
}

bool is_readable(std::string_view dtype) {
  return dtype == "F64" || dtype == "F32" || dtype == "I64" || dtype == "I32" || dtype == "I16" || dtype == "I8" ||
         dtype == "U8" || dtype == "BOOL";
}

}  // namespace accelopt::suites::flashinfer_trace
