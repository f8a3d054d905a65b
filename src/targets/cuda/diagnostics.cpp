// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/diagnostics.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "syntax/diagnostic_text.hpp"

namespace accelopt::targets::cuda {
namespace {

constexpr std::size_t kMostDiagnosticCharacters = 6000;
constexpr std::size_t kLongestDiagnosticLine = 400;
constexpr int kMostInstantiations = 4;
constexpr std::size_t kMostPerformanceRemarks = 10;

/// "name(12): error: text" taken apart.
struct DeviceComplaint {
  std::string_view file;
  int line = 0;
  bool error = false;
  std::string_view message;
};

std::optional<DeviceComplaint> complaint_of(std::string_view text) {
  // File names with brackets in them are none of ours: the last "(number): " counts.
  const auto close = text.find("): ");
  if (close == std::string_view::npos || text.starts_with(' ')) return std::nullopt;
  const auto open = text.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  DeviceComplaint out{text.substr(0, open), 0, false, text.substr(close + 3)};
  const char* const end = text.data() + close;
  const auto [behind, failure] = std::from_chars(text.data() + open + 1, end, out.line);
  if (failure != std::errc{} || behind != end) return std::nullopt;
  for (const std::string_view kind : {"error", "catastrophic error", "internal error"}) {
    if (!out.message.starts_with(kind)) continue;
    const auto colon = out.message.find(": ");
    if (colon == std::string_view::npos) continue;
    out.error = true;
    out.message.remove_prefix(colon + 2);
    break;
  }
  return out;
}

/// The compiler's advice replaced by what helps here.
std::string advised(std::string_view message) {
  if (const auto at = message.find(" Consider using -default-device"); at != std::string_view::npos) {
    const bool variable = message.find("variable") != std::string_view::npos;
    return std::string(message.substr(0, at)) +
           (variable ? " Write constexpr or __constant__ before it." : " Write __device__ before it.");
  }
  if (message.starts_with("cannot open source file")) {
    return std::string(message) +
           "; CUDA's own headers can be included (cuda_fp16.h, mma.h, cooperative_groups.h, cuda/std/..., ...), and "
           "stdint.h, limits.h, float.h, math.h";
  }
  if (message.find("device-side kernel launch") != std::string_view::npos)
    return "a kernel cannot launch kernels; write another //@ launch";
  return std::string(message);
}

/// CUB and Thrust mark what only the host can call, which is most of cub/cub.cuh: forty complaints for one line.
bool wants_host_compiler(const DeviceComplaint& complaint) {
  const bool is_library =
      complaint.file.find("cub/") != std::string_view::npos || complaint.file.find("thrust/") != std::string_view::npos;
  return is_library && complaint.message.find("__host__") != std::string_view::npos;
}

/// The assembler's complaint without its places, which count lines of PTX.
std::string assembler_complaint(std::string_view line) {
  if (!line.starts_with("ptxas ")) return {};
  for (const std::string_view kind : {"error   : ", "fatal   : "}) {
    const auto at = line.find(kind);
    if (at == std::string_view::npos) continue;
    const std::string_view message = line.substr(at + kind.size());
    if (message.starts_with("Ptx assembly aborted")) return {};
    constexpr std::string_view kUnresolved = "Unresolved extern ";
    if (message.starts_with(kUnresolved))
      return "error: " + std::string(message.substr(kUnresolved.size())) + " is declared and defined nowhere";
    return "error in inline PTX or code generation: " + std::string(message);
  }
  return {};
}

/// Collects what is to be shown.
class DiagnosticText {
 public:
  explicit DiagnosticText(const std::vector<std::string>& own) : own_(own) {}

  void add(std::string_view line) {
    if (const auto complaint = complaint_of(line)) return begin(*complaint);
    if (std::string complaint = assembler_complaint(line); !complaint.empty()) {
      flush();
      return put(foreign_, complaint);
    }
    if (line.starts_with("nvrtc: error") || line.starts_with("nvvm error") || line.starts_with("error:")) {
      flush();
      return put(foreign_, "error: " + std::string(line.substr(std::min(line.find(": ") + 2, line.size()))));
    }
    if (!line.starts_with(' ')) return flush();
    if (heading_.empty()) return;
    if (line.find("instantiation of") != std::string_view::npos) {
      if (++instantiations_ <= kMostInstantiations) excerpt_.emplace_back(line);
      return;
    }
    const auto caret = line.find_first_not_of(' ');
    if (caret != std::string_view::npos && line.substr(caret) == "^" && column_ == 0 && caret >= 2)
      column_ = static_cast<int>(caret) - 1;
    if (excerpt_.size() < 2) excerpt_.emplace_back(line);
  }

  std::string finish() {
    flush();
    std::string out = std::move(text_);
    if (out.size() < kMostDiagnosticCharacters) out += foreign_;
    if (out.size() > kMostDiagnosticCharacters) {
      out.resize(out.rfind('\n', kMostDiagnosticCharacters) + 1);
      out += "(more left out)\n";
    }
    return out;
  }

 private:
  static void put(std::string& to, std::string_view line) {
    if (to.size() > kMostDiagnosticCharacters) return;
    to += syntax::printable(syntax::without_paths(line.substr(0, kLongestDiagnosticLine))) + '\n';
  }

  void begin(const DeviceComplaint& complaint) {
    flush();
    if (!complaint.error) return;
    if (std::find(own_.begin(), own_.end(), complaint.file) == own_.end()) {
      if (wants_host_compiler(complaint)) {
        if (!std::exchange(told_of_host_, true))
          put(foreign_,
              "error: include the block or warp header, like cub/block/block_reduce.cuh; cub/cub.cuh, cub/device/... "
              "and "
              "thrust/... need a host compiler");
        return;
      }
      const std::string_view file = complaint.file.substr(complaint.file.rfind('/') + 1);
      return put(foreign_, "error in " + std::string(file) + ", a header: " + advised(complaint.message));
    }
    heading_ = complaint.file;
    line_ = complaint.line;
    message_ = advised(complaint.message);
  }

  void flush() {
    if (heading_.empty()) return;
    std::string place = heading_ + ":" + std::to_string(line_) + ":";
    if (column_ > 0) place += std::to_string(column_) + ":";
    put(text_, place + " error: " + message_);
    for (const std::string& line : excerpt_) put(text_, line);
    heading_.clear();
    excerpt_.clear();
    column_ = 0;
    instantiations_ = 0;
  }

  const std::vector<std::string>& own_;
  std::string text_;
  std::string foreign_;
  std::string heading_;  ///< the file of the complaint that is being read; empty: none
  std::string message_;
  std::vector<std::string> excerpt_;
  int line_ = 0;
  int column_ = 0;
  int instantiations_ = 0;
  bool told_of_host_ = false;
};

}  // namespace

std::string device_diagnostics(std::string_view log, const std::vector<std::string>& own) {
  DiagnosticText text(own);
  for (const std::string_view line : syntax::lines_of(log)) text.add(line);
  return text.finish();
}

std::vector<std::string> device_remarks(std::string_view log) {
  std::vector<std::string> out;
  for (const std::string_view line : syntax::lines_of(log)) {
    constexpr std::string_view kMark = "Potential Performance Loss: ";
    const auto at = line.find(kMark);
    if (!line.starts_with("ptxas ") || at == std::string_view::npos) continue;
    std::string remark =
        "possible loss of performance: " +
        syntax::printable(syntax::without_paths(line.substr(at + kMark.size(), kLongestDiagnosticLine)));
    if (std::find(out.begin(), out.end(), remark) == out.end()) out.push_back(std::move(remark));
    if (out.size() == kMostPerformanceRemarks) break;
  }
  return out;
}

}  // namespace accelopt::targets::cuda
