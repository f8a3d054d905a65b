// SPDX-License-Identifier: Apache-2.0
#include "capture/host_ops.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "capture/kernels.hpp"
#include "devices/cuda/builtin_kernels.hpp"
#include "model/dtype.hpp"

namespace accelopt::capture {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using devices::cuda::Argument;
using devices::cuda::Launch;
using model::DType;

// As in kernels/host_ops.cu.
constexpr std::size_t kAxes = 8;
constexpr std::uint32_t kThreads = 256;
constexpr std::size_t kUploadWords = 480;
constexpr std::size_t kFoundBytes = 16;

constexpr std::uint32_t kMostBlocks = 8192;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::size_t kMostAxes = 64;
/// Outputs of so few elements are left to a thread each.
constexpr std::int64_t kFewElements = 64;
/// Blocks that share the work of a reduction to few outputs, and the elements that each should have at least.
constexpr std::int64_t kBlocksOfReduction = 528;
constexpr std::int64_t kElementsOfPart = 8192;

Result<void> wrong_op(const std::string& what) {
  return base::fail(ErrorCode::corrupt, "the captured plan " + what);
}

/// Elements of a buffer. Strides in bytes, never negative.
struct View {
  std::string buffer;
  std::int64_t offset = 0;  ///< bytes
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;

  [[nodiscard]] std::int64_t item_bytes() const { return static_cast<std::int64_t>(model::size_of(dtype)); }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t out = 1;
    for (const std::int64_t extent : shape) out *= extent;
    return out;
  }
};

/// A number from 0 to `most`, or none.
std::optional<std::int64_t> count_of(const Json& value, std::int64_t most) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) return std::nullopt;
  const auto out = value.get<std::int64_t>();
  return out < 0 || out > most ? std::nullopt : std::optional(out);
}

/// @error corrupt: not all of it lies in its buffer.
Result<View> view_of(const Json& form, const BytesOf& bytes_of) {
  View out;
  out.buffer = form.at("buffer").get_ref<const std::string&>();
  const auto bytes = bytes_of(out.buffer);
  const auto dtype = model::parse_dtype(base::text_at(form, "dtype"));
  const auto offset = count_of(form.at("offset"), kMostElements);
  const Json& shape = form.at("shape");
  const Json& strides = form.at("strides");
  if (!bytes || !dtype || !offset || !shape.is_array() || !strides.is_array() || shape.size() != strides.size() ||
      shape.size() > kMostAxes)
    return tl::make_unexpected(wrong_op("has a view of no form").error());
  out.dtype = *dtype;
  out.offset = *offset;
  const std::int64_t item = out.item_bytes();
  std::int64_t elements = 1;
  std::int64_t last = *offset;  // the byte that the last element begins at
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto extent = count_of(shape[axis], kMostElements);
    const auto stride = count_of(strides[axis], kMostElements);
    if (!extent || !stride || (*extent > 0 && elements > kMostElements / *extent) ||
        (*extent > 1 && *stride > 0 && *stride > kMostElements / item / (*extent - 1)))
      return tl::make_unexpected(wrong_op("has a view without bounds").error());
    elements *= *extent;
    if (*extent > 1) last += (*extent - 1) * *stride * item;
    out.shape.push_back(*extent);
    out.strides.push_back(*stride * item);
  }
  const bool inside = elements == 0 || static_cast<std::uint64_t>(last) + static_cast<std::uint64_t>(item) <= *bytes;
  if (!inside || *offset % item != 0) return tl::make_unexpected(wrong_op("has a view beyond " + out.buffer).error());
  return out;
}

/// Axes that two views walk in step, those joined that lie behind one another in both. Strides in bytes.
struct Walk {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> to;
  std::vector<std::int64_t> from;

  void add(std::int64_t extent, std::int64_t to_stride, std::int64_t from_stride) {
    if (extent == 1) return;
    if (!shape.empty() && to.back() == to_stride * extent && from.back() == from_stride * extent) {
      shape.back() *= extent;
      to.back() = to_stride;
      from.back() = from_stride;
      return;
    }
    shape.push_back(extent);
    to.push_back(to_stride);
    from.push_back(from_stride);
  }

  /// Whether elements of so many bytes lie one behind the other on both sides.
  [[nodiscard]] bool plain(std::int64_t item_bytes) const {
    return shape.empty() || (shape.size() == 1 && to[0] == item_bytes && from[0] == item_bytes);
  }
};

/// A structure of the kernels, number by number.
class Words {
 public:
  void add(std::int64_t number) { words_.push_back(static_cast<std::uint64_t>(number)); }
  /// @error unsupported.
  Result<void> add(const Walk& walk) {
    if (walk.shape.size() > kAxes)
      return base::fail(ErrorCode::unsupported, "a view of " + std::to_string(walk.shape.size()) + " axes");
    add(static_cast<std::int64_t>(walk.shape.size()));
    for (const auto* numbers : {&walk.shape, &walk.to, &walk.from}) {
      for (std::size_t axis = 0; axis < kAxes; ++axis) add(axis < numbers->size() ? (*numbers)[axis] : 0);
    }
    return {};
  }
  [[nodiscard]] Argument argument() && { return devices::cuda::words_argument(std::move(words_)); }

 private:
  std::vector<std::uint64_t> words_;
};

Argument place_of(const View& view) {
  return devices::cuda::tensor_argument(view.buffer, static_cast<std::uint64_t>(view.offset));
}

/// Operations of one plan that are being lowered.
class Lowering {
 public:
  Lowering(const BytesOf& bytes_of, std::size_t cubin, std::size_t number)
      : bytes_of_(bytes_of), cubin_(cubin), number_(number) {}

  Result<HostOp> lower(const Json& op) {
    const auto& kind = op.at("op").get_ref<const std::string&>();
    TRY_ASSIGN(const View to, view_of(op.at("to"), bytes_of_));
    if (kind == "fill") {
      TRY(fill(to, op.at("bits").get<std::uint64_t>()));
    } else if (kind == "upload") {
      TRY(upload(to, op.at("data").get_ref<const std::string&>()));
    } else {
      TRY_ASSIGN(const View from, view_of(op.at("from"), bytes_of_));
      if (kind == "copy") {
        TRY(copy(to, from));
      } else if (kind == "gather") {
        TRY_ASSIGN(const View index, view_of(op.at("index"), bytes_of_));
        TRY(gather(to, from, index));
      } else if (kind == "sum" || kind == "abs_amax") {
        TRY(reduce(to, from, op.at("dims"), kind == "abs_amax"));
      } else {
        return tl::make_unexpected(wrong_op("has an operation of no name").error());
      }
    }
    return std::move(out_);
  }

 private:
  void launch(const char* kernel, std::int64_t threads, std::vector<Argument> arguments) {
    Launch one;
    one.cubin = cubin_;
    one.kernel = kernel;
    one.grid[0] =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>((threads + kThreads - 1) / kThreads, 1, kMostBlocks));
    one.block[0] = kThreads;
    one.arguments = std::move(arguments);
    out_.launches.push_back(std::move(one));
  }

  Result<void> fill(const View& to, std::uint64_t bits) {
    if (to.count() == 0) return {};
    Walk walk;
    for (std::size_t axis = 0; axis < to.shape.size(); ++axis)
      walk.add(to.shape[axis], to.strides[axis], to.strides[axis]);
    Words job;
    job.add(to.count());
    job.add(to.item_bytes());
    job.add(static_cast<std::int64_t>(bits));
    TRY(job.add(walk));
    launch("accelopt_host_fill", to.count(), {place_of(to), std::move(job).argument()});
    return {};
  }

  Result<void> upload(const View& to, const std::string& data) {
    TRY_ASSIGN(const std::string bytes, base::from_base64(data));
    Walk walk;
    for (std::size_t axis = 0; axis < to.shape.size(); ++axis)
      walk.add(to.shape[axis], to.strides[axis], to.strides[axis]);
    if (static_cast<std::int64_t>(bytes.size()) != to.count() * to.item_bytes() || !walk.plain(to.item_bytes()))
      return wrong_op("uploads other bytes than its view has");
    constexpr std::size_t kMost = kUploadWords * sizeof(std::uint64_t);
    for (std::size_t begin = 0; begin < bytes.size(); begin += kMost) {
      const std::size_t own = std::min(kMost, bytes.size() - begin);
      std::vector<std::uint64_t> words(1 + kUploadWords);
      words[0] = own;
      std::memcpy(&words[1], bytes.data() + begin, own);
      View part = to;
      part.offset += static_cast<std::int64_t>(begin);
      launch("accelopt_host_upload", static_cast<std::int64_t>(own),
             {place_of(part), devices::cuda::words_argument(std::move(words))});
    }
    return {};
  }

  Result<void> copy(const View& to, const View& from) {
    if (to.shape != from.shape) return wrong_op("copies views of two shapes");
    if (to.count() == 0) return {};
    Walk walk;
    for (std::size_t axis = 0; axis < to.shape.size(); ++axis)
      walk.add(to.shape[axis], to.strides[axis], from.strides[axis]);
    const bool same = to.dtype == from.dtype;
    if (same && walk.plain(to.item_bytes()) && to.offset % 16 == 0 && from.offset % 16 == 0) {
      const std::int64_t bytes = to.count() * to.item_bytes();
      launch("accelopt_host_copy_plain", bytes / 16,
             {place_of(to), place_of(from), devices::cuda::constant_argument(bytes)});
      return {};
    }
    Words job;
    job.add(to.count());
    job.add(static_cast<std::int64_t>(to.dtype));
    job.add(static_cast<std::int64_t>(from.dtype));
    job.add(same ? to.item_bytes() : 0);
    TRY(job.add(walk));
    launch("accelopt_host_copy", to.count(), {place_of(to), place_of(from), std::move(job).argument()});
    return {};
  }

  Result<void> gather(const View& to, const View& from, const View& index) {
    const bool indexed = index.shape.size() == 1 && (index.dtype == DType::int32 || index.dtype == DType::int64);
    if (!indexed || to.shape.empty() || from.shape.size() != to.shape.size() || to.dtype != from.dtype ||
        to.shape[0] != index.shape[0] || !std::equal(to.shape.begin() + 1, to.shape.end(), from.shape.begin() + 1))
      return wrong_op("gathers rows of another form");
    if (to.count() == 0) return {};
    Walk row;
    for (std::size_t axis = 1; axis < to.shape.size(); ++axis)
      row.add(to.shape[axis], to.strides[axis], from.strides[axis]);
    Words job;
    for (const std::int64_t number :
         {to.count(), to.count() / to.shape[0], from.shape[0], to.strides[0], from.strides[0], index.strides[0],
          static_cast<std::int64_t>(index.dtype), to.item_bytes()})
      job.add(number);
    TRY(job.add(row));
    launch("accelopt_host_gather", to.count(),
           {place_of(to), place_of(from), place_of(index), std::move(job).argument()});
    return {};
  }

  Result<void> reduce(const View& to, const View& from, const Json& dims, bool largest) {
    if (to.shape.size() != from.shape.size()) return wrong_op("reduces to another number of axes");
    std::vector<bool> gone(from.shape.size());
    for (const Json& dim : dims) {
      const auto axis = count_of(dim, static_cast<std::int64_t>(from.shape.size()) - 1);
      if (!axis) return wrong_op("reduces an axis that is not there");
      gone[static_cast<std::size_t>(*axis)] = true;
    }
    Walk kept;
    Walk reduced;
    for (std::size_t axis = 0; axis < from.shape.size(); ++axis) {
      if (to.shape[axis] != (gone[axis] ? 1 : from.shape[axis])) return wrong_op("reduces to another shape");
      if (gone[axis])
        reduced.add(from.shape[axis], from.strides[axis], from.strides[axis]);
      else
        kept.add(from.shape[axis], to.strides[axis], from.strides[axis]);
    }
    const std::int64_t outputs = to.count();
    if (outputs == 0) return {};
    const std::int64_t length = from.count() / outputs;
    const bool each = length <= kFewElements;
    const std::int64_t parts =
        each ? 1
             : std::clamp<std::int64_t>(std::min(kBlocksOfReduction / outputs, length / kElementsOfPart), 1,
                                        kBlocksOfReduction);
    Words job;
    for (const std::int64_t number : {outputs, length, parts, static_cast<std::int64_t>(from.dtype),
                                      static_cast<std::int64_t>(to.dtype), std::int64_t{largest ? 1 : 0}})
      job.add(number);
    TRY(job.add(kept));
    TRY(job.add(reduced));
    const Argument argument = std::move(job).argument();
    if (each) {
      launch("accelopt_host_reduce_each", outputs, {place_of(to), place_of(from), argument});
      return {};
    }
    const std::string found = "%host" + std::to_string(number_);
    out_.scratch.push_back({found, DType::uint8, static_cast<std::uint64_t>(outputs * parts) * kFoundBytes, false});
    const Argument there = devices::cuda::tensor_argument(found);
    launch("accelopt_host_reduce", outputs * parts * kThreads, {there, place_of(from), argument});
    launch("accelopt_host_reduce_last", outputs, {place_of(to), there, argument});
    return {};
  }

  const BytesOf& bytes_of_;
  std::size_t cubin_;
  std::size_t number_;
  HostOp out_;
};

}  // namespace

std::string host_ops_text() {
  return std::string(devices::cuda::elements_text()) + std::string(kernel_files().front().text);
}

Result<HostOp> lowered(const Json& op, const BytesOf& bytes_of, std::size_t cubin, std::size_t number) {
  return Lowering(bytes_of, cubin, number).lower(op);
}

}  // namespace accelopt::capture
