// SPDX-License-Identifier: Apache-2.0
#include "scaffold/operator_task.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <regex>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "scaffold/cuda_kernel.hpp"
#include "scaffold/python_text.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

/// The files before they are written.
struct OperatorDraft {
  std::string target;
  std::string baseline_name;
  std::string baseline;
  std::string reference_name;
  std::string reference;
  std::string toml;
  std::vector<std::string> open;
  std::vector<std::string> notes;
};

/// "file:line" of where the marker stands, for people.
void note_open(OperatorDraft& draft, const std::string& file, const std::string& text, const std::string& what) {
  const std::size_t at = text.find(suites::kToBeFilledIn);
  if (at == std::string::npos) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  draft.open.push_back(fmt::format("{}:{}: {}", file, line, what));
}

/// task.toml of an example call, line by line.
class TomlOfCall {
 public:
  TomlOfCall(const ScaffoldOptions& options, const ExampleCall& call, OperatorDraft& draft)
      : options_(options), call_(call), draft_(draft) {}

  Result<void> write() {
    TRY_ASSIGN(stated_, parse_stated(options_.stated));
    line(
        "# Made by accelopt init. A \"?\" has to be filled in before the task can run; accelopt lint names each by its "
        "line.");
    line("schema = 1");
    line("name = \"" + plain_name(options_.function) + "\"");
    line("op_type = \"" + (options_.op_type.empty() ? plain_name(options_.function) : options_.op_type) + "\"");
    line("target = \"" + draft_.target + "\"");
    section("[axes]");
    for (const ExampleAxis& axis : call_.axes) write_axis(axis);
    if (call_.axes.empty()) open("M", "axes", "\"var\", or the one extent that the kernel may rely on; a line an axis");
    for (const ExampleTensor& tensor : call_.inputs) write_tensor(tensor, "inputs");
    for (const ExampleTensor& tensor : call_.outputs) write_tensor(tensor, "outputs");
    write_workload("race", [](std::int64_t extent) { return extent; });
    const auto varies = [&](const ExampleAxis& axis) { return is_variable(axis); };
    if (std::ranges::any_of(call_.axes, varies)) {
      line("");
      line(
          "# Other sizes, so that a kernel for one size cannot pass: change them where the operator does not take "
          "them.");
      write_workload("check", [](std::int64_t extent) { return std::max<std::int64_t>(1, (extent / 16 - 3) | 1); });
      write_workload("held_out", [](std::int64_t extent) { return (extent / 4 + extent / 8) | 1; });
    }
    section("[cost]");
    line("# flops = \"2*M*N*K\"  # floating-point operations that any implementation must do");
    if (const std::string bytes = least_bytes(); !bytes.empty()) line("bytes = \"" + bytes + "\"");
    draft_.toml = std::move(text_);
    return {};
  }

 private:
  void line(const std::string& text) {
    text_ += text + "\n";
    ++lines_;
  }
  void section(const std::string& header) {
    line("");
    line(header);
  }
  void open(const std::string& key, const std::string& place, const std::string& comment) {
    line(key + " = \"?\"  # " + comment);
    draft_.open.push_back(fmt::format("task.toml:{}: {}", lines_, place));
  }

  [[nodiscard]] bool is_variable(const ExampleAxis& axis) const {
    return !axis.is_constant && !stated_.constants.contains(axis.name);
  }
  void write_axis(const ExampleAxis& axis) {
    const auto constant = stated_.constants.find(axis.name);
    if (constant != stated_.constants.end())
      line(fmt::format("{} = {}", axis.name, constant->second));
    else if (axis.is_constant)
      line(fmt::format("{} = {}", axis.name, *axis.extent));
    else
      line(axis.name + " = \"var\"");
  }
  void write_tensor(const ExampleTensor& tensor, const std::string& key) {
    section("[[" + key + "]]");
    line("name = \"" + tensor.name + "\"");
    const std::string place = key + "." + tensor.name;
    if (tensor.shape) line("shape = " + base::quoted_list(*tensor.shape));
    if (!tensor.shape && (!tensor.dtype || key == "outputs"))
      open("shape", place + ".shape", "names of axes, outermost first, like [\"M\", \"K\"]; no line: a scalar");
    if (tensor.dtype)
      line("dtype = \"" + std::string(model::to_string(*tensor.dtype)) + "\"");
    else
      open("dtype", place + ".dtype", "like \"float16\", \"bfloat16\", \"float32\", \"int32\"");
    if (key == "outputs") return;
    const auto init = stated_.inits.find(tensor.name);
    const bool number = tensor.dtype && model::is_floating(*tensor.dtype);
    if (init != stated_.inits.end())
      line("init = \"" + init->second + "\"");
    else if (number && tensor.shape)
      line("init = \"normal(0, 1)\"");
    else
      open("init", place + ".init",
           tensor.shape ? "how its elements are drawn, like \"integers(0, 100)\""
           : number     ? "the values that callers give it, like \"uniform(0.5, 2)\"; kernels may rely on a constant"
                        : "the values that callers give it, like \"integers(0, 100)\"; kernels may rely on a constant");
  }
  void write_workload(const std::string& role, const std::function<std::int64_t(std::int64_t)>& extent) {
    section("[[workloads]]");
    line("name = \"" + role + "\"");
    std::string axes;
    std::string missing;
    for (const ExampleAxis& axis : call_.axes) {
      if (!is_variable(axis)) continue;
      if (!axis.extent) missing += (missing.empty() ? "" : ", ") + axis.name;
      axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", axis.name,
                          axis.extent ? std::to_string(extent(*axis.extent)) : std::string("\"?\""));
    }
    if (!axes.empty()) line("axes = { " + axes + " }");
    if (!missing.empty())
      draft_.open.push_back(fmt::format("task.toml:{}: workloads.{}: the extent of {}", lines_, role, missing));
    line("role = \"" + role + "\"");
  }
  [[nodiscard]] std::string least_bytes() const {
    std::string sum;
    for (const auto* list : {&call_.inputs, &call_.outputs}) {
      for (const ExampleTensor& tensor : *list) {
        if (!tensor.shape && tensor.dtype && list == &call_.inputs) continue;
        if (!tensor.shape || !tensor.dtype) return "";
        std::string product = std::to_string(model::size_of(*tensor.dtype));
        for (const std::string& axis : *tensor.shape) product += "*" + axis;
        sum += (sum.empty() ? "" : " + ") + product;
      }
    }
    return sum;
  }

  const ScaffoldOptions& options_;
  const ExampleCall& call_;
  OperatorDraft& draft_;
  Stated stated_;
  std::string text_;
  int lines_ = 0;
};

std::string names_of(const std::vector<ExampleTensor>& tensors) {
  return base::joined(tensors, ", ", [](const ExampleTensor& tensor) { return tensor.name; });
}

/// An operator in Python whose kernels are Triton's.
class PythonOperator {
 public:
  PythonOperator(const ScaffoldOptions& options, const std::string& source)
      : options_(options), source_(source), statements_(python_statements(source)) {}

  Result<void> draft(ExampleCall& call, OperatorDraft& out) {
    TRY(refuse_extensions());
    TRY_ASSIGN(const PythonStatement* const function, find(statements_, options_.function, options_.file));
    if (function->is_kernel)
      return fail(ErrorCode::invalid_argument,
                  options_.function + " is a kernel of Triton's; name the Python function that launches it");
    TRY_ASSIGN(const auto parameters, match(*function, call));
    out.target = "triton";
    out.baseline_name = "baseline.py";
    TRY_ASSIGN(out.baseline, baseline_of(call, parameters));
    out.reference_name = "reference.py";
    TRY_ASSIGN(out.reference, reference_of(call, out));
    note_open(out, out.reference_name, out.reference,
              options_.reference.empty()
                  ? "the same operation in PyTorch's own functions (or: init --reference FUNCTION)"
                  : "what it uses of Triton's, in PyTorch's own functions");
    mark_imports_beside(out.baseline_name, out.baseline, out);
    if (!options_.reference.empty()) mark_imports_beside(out.reference_name, out.reference, out);
    return {};
  }

 private:
  [[nodiscard]] Result<void> refuse_extensions() const {
    for (const char* word : {"load_inline", "cpp_extension", "torch.ops.load_library"}) {
      if (source_.find(word) == std::string::npos) continue;
      return fail(
          ErrorCode::unsupported,
          fmt::format(
              "{}: it builds or loads an extension ({}), whose kernels are not in this file as Triton. Put the "
              "CUDA source into a file of its own, and: accelopt init kernels.cu --function KERNEL --example ...",
              options_.file.string(), word));
    }
    return {};
  }

  /// Files beside the user's own do not come along: a line above their imports says so, which lint finds as well.
  void mark_imports_beside(const std::string& file, std::string& text, OperatorDraft& out) const {
    for (const PythonStatement& one : python_statements(text)) {
      for (const std::string& module : python_imports({one})) {
        std::error_code ignored;
        const fs::path beside = options_.file.parent_path() / module;
        if (!module.starts_with(".") && !fs::exists(beside, ignored) && !fs::exists(beside.string() + ".py", ignored))
          continue;
        const std::string mark = fmt::format("# {}: {} lies beside your file; put what is needed of it here\n",
                                             suites::kToBeFilledIn, module);
        const std::size_t at = text.find(one.text);
        text.insert(at, mark);
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        out.open.push_back(
            fmt::format("{}:{}: it imports {}, which lies beside your file: put what is needed of it into {}", file,
                        line, module, file));
      }
    }
  }

  static Result<const PythonStatement*> find(const std::vector<PythonStatement>& statements, const std::string& name,
                                             const fs::path& file) {
    const PythonStatement* found = nullptr;
    std::vector<std::string> functions;
    for (const PythonStatement& one : statements) {
      if (one.kind != PythonStatement::Kind::function) continue;
      if (one.name == name) found = &one;
      if (!one.is_kernel) functions.push_back(one.name);
    }
    if (found != nullptr) return found;
    return fail(ErrorCode::not_found, fmt::format("{}: no function {} at its top level; there are: {}", file.string(),
                                                  name, functions.empty() ? "none" : base::joined(functions, ", ")));
  }

  /// The parameters; without an example all of those without a default become inputs that are to be filled in.
  Result<std::vector<PythonParameter>> match(const PythonStatement& function, ExampleCall& call) const {
    const auto parameters = python_parameters(function);
    if (!parameters)
      return fail(ErrorCode::unsupported,
                  options_.function + " takes any number of arguments; write a function around it that names them");
    const auto is_parameter = [&](const ExampleTensor& tensor) {
      return std::ranges::find(*parameters, tensor.name, &PythonParameter::name) != parameters->end();
    };
    if (call.inputs.empty() && call.outputs.empty()) {
      for (const PythonParameter& parameter : *parameters) {
        if (!parameter.has_default) call.inputs.push_back({.name = parameter.name});
      }
    }
    for (const ExampleTensor& tensor : call.inputs) {
      if (!is_parameter(tensor))
        return fail(ErrorCode::invalid_argument,
                    fmt::format("--example: {} is no parameter of {}, which takes: {}", tensor.name, options_.function,
                                base::joined(*parameters, ", ", [](const auto& one) { return one.name; })));
    }
    for (const PythonParameter& parameter : *parameters) {
      const auto named = [&](const auto& list) {
        return std::ranges::find(list, parameter.name, &ExampleTensor::name) != list.end();
      };
      if (!parameter.has_default && !named(call.inputs) && !named(call.outputs))
        return fail(ErrorCode::invalid_argument,
                    fmt::format("--example does not say what {} of {} is", parameter.name, options_.function));
    }
    if (call.outputs.empty()) call.outputs.push_back({.name = "output"});
    return *parameters;
  }

  Result<std::string> baseline_of(const ExampleCall& call, const std::vector<PythonParameter>& parameters) const {
    std::string text = "# Made by accelopt init from " + options_.function + " in " +
                       options_.file.filename().string() + ".\n" + source_;
    if (!text.ends_with('\n')) text += "\n";
    std::string taken;  // in the order of task.toml
    std::string passed;
    bool writes = false;
    const auto add = [&](const ExampleTensor& tensor) {
      taken += (taken.empty() ? "" : ", ") + tensor.name;
      passed += fmt::format("{}{}={}", passed.empty() ? "" : ", ", tensor.name, tensor.name);
    };
    for (const ExampleTensor& tensor : call.inputs) add(tensor);
    for (const ExampleTensor& tensor : call.outputs) {
      if (std::ranges::find(parameters, tensor.name, &PythonParameter::name) == parameters.end()) continue;
      add(tensor);
      writes = true;
    }
    if (options_.function == "run") {
      std::string own;
      for (const PythonParameter& parameter : parameters)
        if (taken.find(parameter.name) != std::string::npos) own += (own.empty() ? "" : ", ") + parameter.name;
      if (own == taken) return text;
    }
    const bool clash = std::ranges::any_of(statements_, [](const PythonStatement& one) { return one.name == "run"; });
    if (clash)
      return fail(
          ErrorCode::unsupported,
          options_.file.string() +
              ": it defines run, which is what accelopt calls; rename it, or state its parameters in its own order");
    return text +
           fmt::format("\n\ndef run({}):\n    {}{}({})\n", taken, writes ? "" : "return ", options_.function, passed);
  }

  Result<std::string> reference_of(const ExampleCall& call, OperatorDraft& out) const {
    const std::string inputs = names_of(call.inputs);
    const std::string head = "# Made by accelopt init; it runs by PyTorch on the processor, in float64 and float32.\n";
    if (options_.reference.empty()) {
      return head + fmt::format("import torch\n\n\ndef run({}):\n    raise NotImplementedError(\"{}\")\n", inputs,
                                suites::kToBeFilledIn);
    }
    const std::size_t colon = options_.reference.rfind(':');
    const std::string name = options_.reference.substr(colon == std::string::npos ? 0 : colon + 1);
    std::vector<PythonStatement> statements = statements_;
    fs::path file = options_.file;
    if (colon != std::string::npos) {
      file = options_.reference.substr(0, colon);
      TRY_ASSIGN(const std::string text, base::read_file(file));
      statements = python_statements(text);
    }
    TRY_ASSIGN(const PythonStatement* const function, find(statements, name, file));
    const auto parameters = python_parameters(*function);
    std::vector<std::string> kernels;
    std::vector<std::string> missing;
    const auto needed = python_closure(statements, name, kernels, missing);
    if (!kernels.empty())
      return fail(
          ErrorCode::invalid_argument,
          fmt::format(
              "--reference {}: it launches {}, a kernel of Triton's; name a function of PyTorch's own operations", name,
              kernels.front()));
    std::string text = head;
    if (!missing.empty())
      text += fmt::format("# {}: {} without Triton, which the reference does not import\n", suites::kToBeFilledIn,
                          base::joined(missing, ", "));
    for (const PythonStatement& one : needed)
      text += (one.kind == PythonStatement::Kind::function ? "\n\n" : "") + one.text;
    std::string passed;
    for (const ExampleTensor& tensor : call.inputs) {
      const bool takes =
          !parameters || std::ranges::find(*parameters, tensor.name, &PythonParameter::name) != parameters->end();
      if (takes) passed += fmt::format("{}{}={}", passed.empty() ? "" : ", ", tensor.name, tensor.name);
      if (!takes) out.notes.push_back(fmt::format("the reference {} takes no {}", name, tensor.name));
    }
    if (name == "run") return text;
    return text + fmt::format("\n\ndef run({}):\n    return {}({})\n", inputs, name, passed);
  }

  const ScaffoldOptions& options_;
  const std::string& source_;
  std::vector<PythonStatement> statements_;
};

/// A kernel in CUDA C++, perhaps of an extension of PyTorch: its device code is kept, its launch is to be filled in.
Result<void> draft_cuda(const ScaffoldOptions& options, const std::string& source, ExampleCall& call,
                        OperatorDraft& out) {
  TRY_ASSIGN(const CudaKernel kernel, find_cuda_kernel(source, options.function, options.file));
  std::vector<std::string> parameters;
  for (const CudaParameter& parameter : kernel.parameters) {
    parameters.push_back(parameter.name);
    const auto named = [&](const auto& tensors) {
      return std::ranges::find(tensors, parameter.name, &ExampleTensor::name) != tensors.end();
    };
    const auto axis = std::ranges::find(call.axes, parameter.name, &ExampleAxis::name);
    if (named(call.inputs) || named(call.outputs) || axis != call.axes.end()) continue;
    if (parameter.kind == CudaParameter::Kind::output) call.outputs.push_back({.name = parameter.name});
    if (parameter.kind == CudaParameter::Kind::input) call.inputs.push_back({.name = parameter.name});
    if (parameter.kind == CudaParameter::Kind::axis) call.axes.push_back({.name = parameter.name});
  }
  for (const auto* tensors : {&call.inputs, &call.outputs}) {
    for (const ExampleTensor& tensor : *tensors) {
      if (std::ranges::find(parameters, tensor.name) == parameters.end())
        return fail(ErrorCode::invalid_argument,
                    fmt::format("--example: {} is no parameter of {}, which takes: {}", tensor.name, options.function,
                                base::joined(parameters, ", ")));
    }
  }
  out.target = "cuda";
  out.baseline_name = "baseline.cu";
  // Headers of the host, and of PyTorch, do not exist for a kernel that the device's compiler compiles alone.
  static const std::regex kHost(
      R"(^[ \t]*#[ \t]*include[ \t]*[<"](?:torch|ATen|c10|pybind11|cuda_runtime|vector|iostream|cstdio|stdio)[^\n]*\n)",
      std::regex::multiline);
  const std::string code = std::regex_replace(kernel.source, kHost, "");
  out.baseline = fmt::format(
      "// Made by accelopt init from {} in {}.\n// {}: grid and block, over the task's axes, like grid=(cdiv(N, 256)) "
      "block=(256){}.\n//@ launch {} grid=(?) block=(?) args=({})\n\n{}",
      options.function, options.file.filename().string(), suites::kToBeFilledIn,
      kernel.launch.empty() ? "" : "; your file launches it with <<<" + base::ascii_line(kernel.launch, 200) + ">>>",
      options.function, base::joined(parameters, ", "), code);
  note_open(out, out.baseline_name, out.baseline, "grid and block of the launch, and then this line away");
  if (code.find("<<<") != std::string::npos || code.find("torch::") != std::string::npos ||
      code.find("PYBIND11") != std::string::npos || code.find("TORCH_LIBRARY") != std::string::npos)
    out.open.push_back(
        "baseline.cu: take out the functions of the host (<<<...>>>, torch::, PYBIND11_MODULE, TORCH_LIBRARY): device "
        "code alone is compiled");
  out.reference_name = "reference.cpp";
  out.reference = fmt::format(
      "// {}: the same operation as plain loops, over real, which is double and float in turn "
      "(docs/tasks.md).\n#include \"task.h\"\n",
      suites::kToBeFilledIn);
  note_open(out, out.reference_name, out.reference, "the same operation as plain loops");
  return {};
}

}  // namespace

Result<ScaffoldReport> scaffold_operator(const ScaffoldOptions& options, const std::string& source) {
  TRY_ASSIGN(ExampleCall call, parse_example(options.example));
  OperatorDraft draft;
  if (options.file.extension() == ".py")
    TRY(PythonOperator(options, source).draft(call, draft));
  else
    TRY(draft_cuda(options, source, call, draft));
  TRY(TomlOfCall(options, call, draft).write());
  TRY(base::make_folders(options.folder));
  TRY(base::write_file(options.folder / "task.toml", draft.toml));
  TRY(base::write_file(options.folder / draft.baseline_name, draft.baseline));
  TRY(base::write_file(options.folder / draft.reference_name, draft.reference));
  return ScaffoldReport{.folder = options.folder,
                        .files = {"task.toml", draft.baseline_name, draft.reference_name},
                        .open = std::move(draft.open),
                        .notes = std::move(draft.notes),
                        .task = {}};
}

}  // namespace accelopt::scaffold
