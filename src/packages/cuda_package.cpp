// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "packages/cuda_files.hpp"
#include "packages/launcher.hpp"
#include "packages/package.hpp"
#include "packages/package_text.hpp"
#include "packages/reference_files.hpp"
#include "packages/tables.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::packages {
namespace {

base::Result<model::DeviceDirectives> directives_of(const std::string& text, const std::string& file) {
  const auto directives = model::parse_device_directives(text);
  if (!directives) {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("{}:{}: {}", file, directives.error().line, directives.error().message));
  }
  for (const model::TunedName& tuned : directives->tuned) {
    if (tuned.values.size() == 1) continue;
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("{}:{}: {} has {} values, and a package needs one; leave the one that was measured",
                                  file, tuned.line, tuned.name, tuned.values.size()));
  }
  return *directives;
}

std::string launcher_header(const model::Definition& definition, const std::string& name, const std::string& comment) {
  return "/* " + comment +
         " */\n#pragma once\n#include <cuda.h>\n#include <stddef.h>\n#include <stdint.h>\n#ifndef "
         "__cplusplus\n#include "
         "<stdbool.h>\n#endif\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n" +
         launcher_declarations(definition, name) + "#ifdef __cplusplus\n}\n#endif\n";
}

/// What NAME.h says of the function.
std::string usage_comment(const model::Definition& definition, const std::string& name) {
  std::string out =
      harmless(definition.description) + "\n\n   " + name +
      " launches on the stream, in the current context. Tensors are device memory, row-major and contiguous:\n";
  for (const Parameter& parameter : parameters_of(definition)) {
    if (parameter.kind == Parameter::Kind::axis) continue;
    out += "     " + parameter.name + "  " + std::string(model::to_string(parameter.dtype));
    if (parameter.kind != Parameter::Kind::scalar) out += " [" + base::joined(parameter.shape, ", ") + "]";
    out += parameter.holds_input ? ", read and written\n" : "\n";
  }
  for (const model::Axis& axis : definition.axes) {
    if (axis.value) out += "     " + axis.name + " = " + std::to_string(*axis.value) + "\n";
  }
  return out + "   scratch_ is device memory of " + name +
         "_scratch_bytes(...) bytes, aligned to 256, which no other call uses meanwhile.";
}

/// One precision of reference.cu: its launcher and header.
base::Result<Package> precision_files(const model::Task& task, model::DType real) {
  const std::string name = std::string("reference_") + std::string(model::c_name(real));
  const model::Definition definition =
      targets::cuda::reference_definition(model::reference_definition(task.definition), real);
  TRY_ASSIGN(model::DeviceDirectives directives, directives_of(task.reference.text, reference_name(task)));
  for (model::ScratchDirective& scratch : directives.scratch) {
    if (model::is_floating(scratch.dtype)) scratch.dtype = real;
  }
  TRY_ASSIGN(const std::string launcher, launcher_source({name, definition, directives}));
  return Package{{"test/" + name + ".cpp", replaced(launcher, "@HEADER@", name + ".h")},
                 {"test/" + name + ".h",
                  launcher_header(definition, name,
                                  "The reference, every floating type as " + std::string(model::c_name(real)) + ".")}};
}

std::string device_call(const model::Definition& definition, const std::string& constant, const std::string& function) {
  std::vector<std::string> arguments;
  std::vector<std::string> axes;
  for (const Parameter& parameter : parameters_of(definition)) {
    const std::string place = "a[" + std::to_string(arguments.size()) + "]";
    if (parameter.kind == Parameter::Kind::axis) axes.push_back("*static_cast<const int64_t*>(" + place + ")");
    const bool by_value = parameter.kind == Parameter::Kind::axis || parameter.kind == Parameter::Kind::scalar;
    std::string type(model::c_name(parameter.dtype));
    if (model::is_floating(parameter.dtype) && model::size_of(parameter.dtype) == 2) type = "uint16_t";
    if (model::is_floating(parameter.dtype) && model::size_of(parameter.dtype) == 1) type = "uint8_t";
    arguments.push_back(by_value ? "*static_cast<const " + type + "*>(" + place + ")" : place);
  }
  return fmt::format(
      "inline const Callable {}{{[]([[maybe_unused]] void* const* a) {{ return {}_scratch_bytes({}); }},\n"
      "    [](CUstream stream, void* scratch, void* const* a) {{ return {}(stream, scratch, {}); }}}};\n",
      constant, function, base::joined(axes, ", "), function, base::joined(arguments, ", "));
}

std::string host_callable(const std::string& constant, const std::string& function) {
  return fmt::format(
      "inline const Callable {}{{[](void* const*) {{ return size_t(0); }},\n"
      "    [](CUstream, void*, void* const* a) {{ {}(a); return CUDA_SUCCESS; }}}};\n",
      constant, function);
}

base::Result<std::string> device_tables(const PackageRequest& request, const std::string& name) {
  const model::Task& task = request.task;
  const bool on_device = reference_on_device(task);
  TRY_ASSIGN(const std::string tables, cpp_tables(task, on_device ? Quick::all : Quick::checked));
  std::string out = "#pragma once\n#include \"check.hpp\"\n#include \"../" + name + ".h\"\n";
  if (on_device) out += "#include \"reference_double.h\"\n#include \"reference_float.h\"\n";
  out +=
      "\nstruct Callable {\n  size_t (*scratch_bytes)(void* const*);\n  CUresult (*launch)(CUstream, void*, void* "
      "const*);\n};\n\n";
  out +=
      "/// Whether arguments lie in the host's memory: those of a reference that runs there, which sees `real` "
      "alone.\n";
  out += on_device ? "inline bool on_host(Type) { return false; }\n\n"
                   : "inline bool on_host(Type real) { return real != Type::boolean; }\n\n";
  out += tables + "\n" + device_call(task.definition, "kKernel", name);
  if (on_device) {
    const auto real = [&](model::DType dtype) { return targets::cuda::reference_definition(task.definition, dtype); };
    return out + device_call(real(model::DType::float64), "kReferenceDouble", "reference_double") +
           device_call(real(model::DType::float32), "kReferenceFloat", "reference_float");
  }
  return out + host_reference_declarations(task.definition) +
         host_call(task.definition, "call_double", "reference_double", model::DType::float64) +
         host_call(task.definition, "call_float", "reference_float", model::DType::float32) + "\n" +
         host_callable("kReferenceDouble", "call_double") + host_callable("kReferenceFloat", "call_float");
}

/// The references as CMake's targets.
std::string reference_targets(const model::Task& task, const Filling& filling) {
  if (reference_on_device(task)) {
    return "foreach(real double float)\n  add_launcher(reference_${real} ${CMAKE_CURRENT_SOURCE_DIR}/test/reference.cu "
           "test/reference_${real}.cpp\n               -I${CMAKE_CURRENT_SOURCE_DIR}/test -DREAL=${real} -fmad=false)\n"
           "endforeach()";
  }
  return filled("cpp/keep_only.cmake", filling) + filled("cpp/references.cmake", filling);
}

}  // namespace

bool reference_on_device(const model::Task& task) {
  return reference_name(task) == "reference.cu";
}

base::Result<DeviceFiles> device_files(const PackageRequest& request) {
  const model::Definition& definition = request.task.definition;
  const std::string name = package_name(request);
  const model::SourceFile& main = request.solution.sources.front();
  TRY_ASSIGN(const model::DeviceDirectives directives, directives_of(main.text, main.name));
  TRY_ASSIGN(const std::string launcher, launcher_source({name, definition, directives}));
  DeviceFiles out{{{"kernels.cu", "#include \"task.cuh\"\n\n" + main.text},
                   {"task.cuh", targets::cuda::standalone_header(definition)},
                   {"launcher.cpp", replaced(launcher, "@HEADER@", name + ".h")},
                   {name + ".h", launcher_header(definition, name, usage_comment(definition, name))}},
                  directives.flags};
  for (std::size_t i = 1; i < request.solution.sources.size(); ++i)
    out.files.push_back({request.solution.sources[i].name, request.solution.sources[i].text});
  return out;
}

base::Result<Package> reference_files(const model::Task& task) {
  if (!reference_on_device(task)) return host_reference_files(task);
  Package out{{"test/reference.cu", "#include \"task.cuh\"\n\n" + task.reference.text},
              {"test/task.cuh", targets::cuda::standalone_reference_header(task.definition)}};
  for (const model::DType real : {model::DType::float64, model::DType::float32}) {
    TRY_ASSIGN(Package files, precision_files(task, real));
    for (PackageFile& file : files) out.push_back(std::move(file));
  }
  return out;
}

base::Result<Package> cuda_package(const PackageRequest& request) {
  TRY(check_packable(request.task));
  if (reference_name(request.task) == "reference.py") {
    return base::fail(base::ErrorCode::unsupported,
                      "the reference is Python, which a test in C++ cannot call; use --as torch");
  }
  const std::string name = package_name(request);
  TRY_ASSIGN(DeviceFiles device, device_files(request));
  TRY_ASSIGN(Package reference, reference_files(request.task));
  TRY_ASSIGN(std::string tables, device_tables(request, name));
  Filling filling = common_filling(request);
  filling.emplace_back("FLAGS", base::joined(device.flags, " "));
  filling.emplace_back("REFERENCES", reference_targets(request.task, filling));
  Package out = std::move(device.files);
  for (PackageFile& file : reference) out.push_back(std::move(file));
  out.push_back({"CMakeLists.txt", filled("cuda/CMakeLists.txt", filling)});
  out.push_back({"README.md", filled("cuda/README.md", filling)});
  out.push_back({"test/check.hpp", filled("cpp/check.hpp", filling)});
  out.push_back({"test/test.cpp", filled("cuda/test.cpp", filling)});
  out.push_back({"test/tables.hpp", std::move(tables)});
  return out;
}

}  // namespace accelopt::packages
