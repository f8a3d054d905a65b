// SPDX-License-Identifier: Apache-2.0
#include "scaffold/task_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/hash.hpp"
#include "scaffold/openmp.hpp"
#include "scaffold/scaffold.hpp"

namespace accelopt::scaffold {
namespace {

constexpr std::string_view kOpen = "\"?\"";

/// Text of a task.toml, and which of its lines are left open.
class TomlText {
 public:
  void line(const std::string& text) {
    text_ += text + "\n";
    ++lines_;
  }
  void section(const std::string& header) {
    line("");
    line(header);
    section_ = header;
  }
  /// `place` names the key for people: "axes.K".
  void open(const std::string& key, const std::string& place, const std::string& comment) {
    line(key + " = " + std::string(kOpen) + "  # " + comment);
    open_.push_back("task.toml:" + std::to_string(lines_) + ": " + place);
  }
  const std::string& text() const { return text_; }
  const std::vector<std::string>& places() const { return open_; }

 private:
  std::string text_;
  std::string section_;
  std::vector<std::string> open_;
  int lines_ = 0;
};

std::string list(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "\"" : ", \"") + text + "\"";
  return "[" + result + "]";
}

/// Integers as far as they reach without an overflow of signed sums of products, which no compiler defines: of 64 bits
/// where the function's results have so many, else of 32. Kernels are right on what is drawn, and perhaps on no more.
const char* integers_for(model::DType dtype, bool has_wide_results) {
  switch (dtype) {
    case model::DType::boolean:
      return "integers(0, 2)";
    case model::DType::int8:
      return "integers(-128, 128)";
    case model::DType::uint8:
      return "integers(0, 256)";
    case model::DType::uint16:
      return "integers(0, 65536)";
    case model::DType::uint32:
      return "integers(0, 4294967296)";
    case model::DType::uint64:
      return "integers(0, 9007199254740992)";
    case model::DType::int16:
      return has_wide_results ? "integers(-32768, 32768)" : "integers(-1000, 1000)";
    default:
      return has_wide_results ? "integers(-8000000, 8000000)" : "integers(-1000, 1000)";
  }
}

bool has_wide_results(const Signature& signature) {
  return std::any_of(signature.parameters.begin(), signature.parameters.end(), [](const KernelParameter& parameter) {
    const bool is_written = parameter.role == ParameterRole::output || parameter.role == ParameterRole::inout;
    return is_written && (parameter.dtype == model::DType::int64 || parameter.dtype == model::DType::uint64);
  });
}

std::string question_of_init(const KernelParameter& parameter, const Signature& signature) {
  const bool is_number = model::is_floating(parameter.dtype);
  if (!parameter.is_tensor)
    return fmt::format("the values that callers give it, like \"{}\": the patch calls the winner for these alone",
                       is_number ? "uniform(0.5, 2)" : "integers(0, 100)");
  if (is_number) return "how its elements are drawn, like \"normal(0, 1)\" or \"uniform(0, 1)\"";
  return fmt::format("how its elements are drawn, as far as your program's reach, like \"{}\"; of indices: their range",
                     integers_for(parameter.dtype, has_wide_results(signature)));
}

void write_tensor(TomlText& toml, const KernelParameter& parameter, const Signature& signature, const Stated& stated) {
  const bool input = parameter.role != ParameterRole::output;
  const std::string key = !input ? "outputs" : parameter.role == ParameterRole::inout ? "inout" : "inputs";
  toml.section("[[" + key + "]]");
  toml.line("name = \"" + parameter.task_name + "\"");
  const std::string place = key + "." + parameter.name;
  if (parameter.shape) {
    toml.line("shape = " + list(*parameter.shape));
  } else if (parameter.is_tensor) {
    toml.open("shape", place + ".shape", "names of axes, outermost first, like [\"M\", \"K\"]");
  }
  toml.line("dtype = \"" + std::string(model::to_string(parameter.dtype)) + "\"");
  if (!parameter.ties.empty()) toml.line("ties = \"" + parameter.ties + "\"");
  if (!input) return;
  const auto init = stated.inits.find(parameter.name);
  if (init != stated.inits.end()) {
    toml.line("init = \"" + init->second + "\"");
  } else {
    toml.open("init", place + ".init", question_of_init(parameter, signature));
  }
  if (parameter.is_tensor && init != stated.inits.end() && init->second.starts_with("integers(") &&
      !model::is_floating(parameter.dtype))
    toml.line(
        "# families = [\"extremes\"]  # many of the range's largest and smallest numbers, where sums of them fit");
  if (parameter.is_tensor && model::is_floating(parameter.dtype)) {
    const bool is_sorted = init != stated.inits.end() && init->second.starts_with("sorted(");
    const bool is_exact = std::ranges::any_of(signature.parameters, [](const KernelParameter& one) {
      return one.role == ParameterRole::output && !model::is_floating(one.dtype) && one.ties.empty();
    });
    toml.line(fmt::format("# families = [{}\"scaled\"{}{}]  # those the function is defined for",
                          is_sorted ? "" : "\"positive\", ", is_sorted ? "" : ", \"heavy\", \"sparse\", \"rows\"",
                          is_exact ? ", \"coarse\"" : ""));
  }
}

void write_workload(TomlText& toml, const MadeWorkload& workload) {
  toml.section("[[workloads]]");
  toml.line("name = \"" + workload.name + "\"");
  std::string axes;
  for (const auto& [axis, extent] : workload.extents)
    axes += (axes.empty() ? "" : ", ") + axis + " = " + std::to_string(extent);
  if (!axes.empty()) toml.line("axes = { " + axes + " }");
  toml.line("role = \"" + std::string(model::to_string(workload.role)) + "\"");
}

/// Bytes that must move at least: every tensor once, but what may stay unread. Empty while a shape is open.
std::string least_bytes(const Signature& signature) {
  std::string sum;
  for (const KernelParameter& parameter : signature.parameters) {
    if (!parameter.is_tensor) continue;
    if (!parameter.shape) return "";
    const bool read = parameter.role != ParameterRole::output && signature.reads_everything;
    const bool written = parameter.role == ParameterRole::output ||
                         (parameter.role == ParameterRole::inout && parameter.is_always_written);
    const std::size_t times = (read ? 1 : 0) + (written ? 1 : 0);
    if (times == 0) continue;
    std::string product = std::to_string(times * model::size_of(parameter.dtype));
    for (const std::string& axis : *parameter.shape) product += "*" + axis;
    sum += (sum.empty() ? "" : " + ") + product;
  }
  return sum;
}

void write_entry(TomlText& toml, const model::Entry& entry) {
  toml.section("[entry]");
  toml.line("file = \"" + entry.file + "\"");
  toml.line("function = \"" + entry.function + "\"");
  toml.line("args = " + list(entry.args));
  if (!entry.returns.empty()) toml.line("returns = \"" + entry.returns + "\"");
  toml.line("content = \"" + entry.content +
            "\"  # of the code that the task was made from: best refuses to replace another");
  toml.line("# flags = [\"-O2\"]  # of your own build; without it, those in its compile_commands.json");
}

}  // namespace

TomlDraft task_toml(const Signature& signature, const Stated& stated, const model::Task& task, TensorLengths lengths) {
  const std::string& function = task.entry->function;
  const std::string& baseline = model::main_text(task.baseline);
  TomlText toml;
  toml.line(
      "# Made by accelopt init. A \"?\" has to be filled in before the task can run; accelopt lint names each by its "
      "line.");
  toml.line("schema = " + std::to_string(model::schema_of(task)));
  toml.line("name = \"" + plain_name(function) + "\"");
  toml.line("op_type = \"" + task.definition.op_type + "\"");
  const std::string& description = task.definition.description;
  if (!description.empty()) toml.line("description = \"" + description + "\"");
  toml.line("target = \"cpu\"");
  if (task.definition.small_floats == model::SmallFloats::native) toml.line("small_floats = \"native\"");
  toml.line("# The reference was derived from the function: it proves equality, not correctness, until it is edited.");
  toml.line("derived_reference = \"" + base::sha256_hex(task.reference.text) + "\"");
  toml.section("[axes]");
  for (const KernelAxis& axis : signature.axes) {
    if (axis.is_variable) {
      const std::string& expression = axis.expression;
      toml.line(axis.name + " = \"var\"" + (expression.empty() ? "" : "  # " + expression + " in every workload"));
    } else if (axis.constant) {
      toml.line(axis.name + " = " + std::to_string(*axis.constant));
    } else {
      toml.open(axis.name, "axes." + axis.name,
                axis.is_parameter
                    ? "\"var\" and an extent in each workload, or the one extent that the kernel may rely on"
                    : "the axis's extent");
    }
  }
  for (const ParameterRole role : {ParameterRole::input, ParameterRole::inout, ParameterRole::output}) {
    for (const KernelParameter& parameter : signature.parameters) {
      if (parameter.role == role) write_tensor(toml, parameter, signature, stated);
    }
  }
  for (const TieValues& values : signature.ties) {
    toml.section("[[ties]]");
    toml.line("name = \"" + values.name + "\"");
    toml.line("shape = " + list(values.shape));
    toml.line("dtype = \"" + std::string(model::to_string(values.dtype)) + "\"");
  }
  for (const MadeWorkload& workload : made_workloads(signature, baseline, lengths)) {
    if (workload.name == "check") {
      toml.line("");
      toml.line(
          "# Other sizes, so that a kernel for one size cannot pass: change them where the function does not take "
          "them. Smaller and larger ones than here are left to the function's own code by the patch.");
    }
    write_workload(toml, workload);
  }
  toml.section("[numerics]");
  toml.line("lower_precision = false");
  toml.section("[cost]");
  toml.line("# flops = \"2*M*N*K\"  # floating-point operations that any implementation must do");
  const char* const partly = signature.reads_everything ? "" : "  # inputs are not counted: data says how much is read";
  if (const std::string bytes = least_bytes(signature); !bytes.empty()) toml.line("bytes = \"" + bytes + "\"" + partly);
  toml.section("[cpu]");
  const bool threaded = has_omp_parallel(baseline);
  threaded ? toml.open("threads", "cpu.threads", kThreadsToState) : toml.line("threads = 1");
  toml.line("cache = \"cold\"");
  write_entry(toml, *task.entry);
  return {toml.text(), toml.places()};
}

}  // namespace accelopt::scaffold
