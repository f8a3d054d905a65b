// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/build.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/once_map.hpp"
#include "devices/cuda/cubin.hpp"
#include "model/tuning.hpp"
#include "syntax/machine_failure.hpp"
#include "syntax/source_check.hpp"
#include "targets/cuda/candidate_check.hpp"
#include "targets/cuda/description.hpp"
#include "targets/cuda/diagnostics.hpp"
#include "targets/cuda/nvrtc.hpp"
#include "targets/cuda/placement.hpp"
#include "targets/cuda/plan_text.hpp"
#include "targets/cuda/precompiled.hpp"
#include "targets/cuda/program.hpp"
#include "targets/cuda/resources.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using devices::cuda::Cubin;
using devices::cuda::CubinKernel;
using devices::cuda::DeviceLimits;
using devices::cuda::KernelResources;
using model::LaunchPlan;

constexpr const char* kMainName = "kernel.cu";
constexpr const char* kReferenceName = "reference.cu";
constexpr const char* kHeaderName = "task.cuh";

NvrtcPlaces places_of(const CudaBuildOptions& options) {
  return {options.helper, options.nvrtc, options.headers, options.environment};
}

/// Options of every compilation.
std::vector<std::string> common_options(const DeviceLimits& limits) {
  return {"--gpu-architecture=" + limits.architecture, "--std=c++20", "--ptxas-options=-v"};
}

bool is_header_name(const std::string& name) {
  const std::string extension = fs::path(name).extension().string();
  const bool plain = !name.empty() && name.front() != '.' && name != kHeaderName &&
                     std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; });
  return plain && (extension == ".cuh" || extension == ".h" || extension == ".hpp");
}

/// A text with its line that diagnostics count from.
std::string with_header(const std::string& name, const std::string& text) {
  return std::string("#include \"") + kHeaderName + "\"\n#line 1 \"" + name + "\"\n" + text;
}

/// "#define BM 64", a tuned name each: for the end of the task's header.
std::string tuned_macros(const model::TuneDirectives& directives) {
  std::string out;
  for (const std::string& flag : model::macro_flags(directives)) {
    const auto sign = flag.find('=');
    out += "#define " + flag.substr(2, sign - 2) + " " + flag.substr(sign + 1) + "\n";
  }
  return out;
}

/// A plan and the workload that it is of.
struct WorkloadPlan {
  const model::Workload* workload = nullptr;
  std::string name;  ///< of the plan in the program
  LaunchPlan plan;
};

std::string place_text(const std::string& file, int line, int column) {
  return file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": error: ";
}

/// The message with the workload that it is about. Of a held-out one nothing is told: its sizes are secret.
std::string for_workload(const model::Workload& workload, const std::string& message) {
  if (workload.role == model::Role::held_out) {
    return "the launch plan does not hold for all sizes of the variable axes: some number of it is out of its range at "
           "sizes that no workload shows; compute it from the axes with cdiv, min and max";
  }
  std::string axes;
  for (const auto& [name, value] : workload.axes)
    axes += (axes.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return "in workload \"" + workload.name + "\"" + (axes.empty() ? "" : " (" + axes + ")") + ": " + message;
}

/// One source to be built, and how it is judged.
struct Source {
  std::string name;  ///< of the main file, in diagnostics
  const model::Solution& solution;
  const model::Definition& definition;  ///< as its kernels see it
  std::string header;
  std::vector<std::string> options;  ///< besides the common ones and those of its directives
  /// Of a reference, which may keep what it likes: the type of its floating scratch tensors.
  std::optional<model::DType> real{};
};

class NvrtcBuilder final : public CudaBuilder {
 public:
  NvrtcBuilder(const model::Task& task, CudaBuildOptions options, Nvrtc nvrtc)
      : task_(task),
        options_(std::move(options)),
        nvrtc_(std::move(nvrtc)),
        header_(device_header(task.definition)),
        precompiled_(options_.cache, nvrtc_, common_options(options_.limits)) {}

  base::Result<BuiltCudaPtr> build(const model::Kernel& kernel, std::stop_token stop) override {
    if (kernel.solution().sources.empty())
      return base::fail(ErrorCode::invalid_argument, "a kernel without a source file");
    const std::string id = build_id(kernel);
    // Diagnostics name lines, which the source id does not see: the text itself is part of the key.
    std::string key = id;
    for (const model::SourceFile& file : kernel.solution().sources)
      key += base::sha256_hex(file.name) + base::sha256_hex(file.text);
    return built_.get(key, [&]() -> base::Result<BuiltCudaPtr> {
      TRY_ASSIGN(const auto built, build_source({kMainName, kernel.solution(), task_.definition, header_, {}}, stop));
      built->report.build_id = id;
      return BuiltCudaPtr(built);
    });
  }

  base::Result<std::string> cubin_with_lines(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltCudaPtr built, build(kernel, stop));
    if (!built->report.built)
      return base::fail(ErrorCode::invalid_argument, "a kernel that does not build has no machine code");
    const Source source{kMainName, kernel.solution(), task_.definition, header_, {"--generate-line-info"}};
    TRY_ASSIGN(const NvrtcOutcome outcome, compile_source(source, *built, stop));
    const std::string& measured = built->program.cubins.at(0).bytes;
    if (!outcome.compiled) return measured;
    return devices::cuda::is_same_code(outcome.cubin, measured, launched_kernels(built->program)) ? outcome.cubin
                                                                                                  : measured;
  }

  base::Result<BuiltCudaPtr> build_reference(const std::string& real, std::stop_token stop) override {
    if (!task_.reference.name.ends_with(".cu")) {
      return base::fail(ErrorCode::invalid_argument,
                        task_.reference.name + " is no reference for the device; write reference.cu");
    }
    const model::DType dtype = real == "float" ? model::DType::float32 : model::DType::float64;
    const model::Definition definition = reference_definition(task_.definition, dtype);
    model::Solution reference;
    reference.language = model::Language("cuda");
    reference.sources.push_back({kReferenceName, task_.reference.text});
    // Contraction would make the runs in double and in float differ in more than rounding.
    const std::vector<std::string> options{"-DACCELOPT_REAL=" + real, "--fmad=false"};
    TRY_ASSIGN(const auto built,
               build_source(
                   {kReferenceName, reference, definition, device_reference_header(definition), options, dtype}, stop));
    if (!built->report.built) {
      return base::fail(ErrorCode::invalid_argument, "the task's reference.cu does not build with real = " + real +
                                                         ":\n" + built->report.diagnostics);
    }
    return BuiltCudaPtr(built);
  }

  base::Result<std::string> build_trusted(const std::string& name, const std::string& text,
                                          const std::vector<std::string>& definitions, std::stop_token stop) override {
    NvrtcJob job{name, text, common_options(options_.limits), library_headers(), {}, {}, options_.cores};
    job.options.insert(job.options.end(), definitions.begin(), definitions.end());
    TRY_ASSIGN(NvrtcOutcome outcome, compile(nvrtc_, job, options_.gate, stop));
    if (!outcome.compiled) return base::fail(ErrorCode::internal, name + " does not build:\n" + outcome.log);
    return std::move(outcome.cubin);
  }

  const std::string& task_header() const override { return header_; }

  std::string flags_text() const override {
    std::string out;
    for (const std::string& option : common_options(options_.limits)) {
      if (!option.starts_with("--ptxas-options")) out += (out.empty() ? "" : " ") + option;
    }
    return out;
  }

  std::string compiler_name() const override { return nvrtc_.name(); }

  /// Compiles the header with a kernel that does nothing. @error invalid_argument: it does not compile; exhausted: this
  /// machine has not even the memory for that.
  base::Result<void> check_header(const std::stop_token& stop) {
    NvrtcJob job{kMainName,
                 with_header(kMainName, "extern \"C\" __global__ void nothing() {}\n"),
                 common_options(options_.limits),
                 headers_with(header_),
                 {},
                 {},
                 options_.cores};
    TRY_ASSIGN(const NvrtcOutcome outcome, compile(nvrtc_, job, options_.gate, stop));
    if (outcome.compiled) return {};
    if (outcome.limited) return tl::make_unexpected(syntax::MachineFailure::of_memory().error());
    const bool no_headers = nvrtc_.headers.empty() && outcome.log.find("cannot open source file") != std::string::npos;
    if (no_headers) {
      return base::fail(ErrorCode::unsupported,
                        "the task's 16-bit or 8-bit floats need CUDA's headers, which were not "
                        "found beside " +
                            nvrtc_.library +
                            "; install them, e.g. the Python "
                            "package nvidia-cuda-runtime, or set CUDA_HOME");
    }
    return base::fail(ErrorCode::invalid_argument,
                      "the task's generated header does not compile; check the names of its axes:\n" + outcome.log);
  }

 private:
  using Built = std::shared_ptr<BuiltCuda>;

  [[nodiscard]] std::string build_id(const model::Kernel& kernel) const {
    // The values of a tuned kernel stand in its source, and so in the source id.
    return base::sha256_hex(kernel.id() + '\n' + nvrtc_.name() + '\n' + header_ + '\n' + flags_text());
  }

  [[nodiscard]] static std::vector<std::pair<std::string, std::string>> headers_with(const std::string& task_header) {
    auto out = library_headers();
    out.emplace_back(kHeaderName, task_header);
    return out;
  }

  /// What the candidate's text already tells to be wrong.
  static std::string refused_sources(const Source& source) {
    if (source.solution.language != model::Language("cuda"))
      return "error: kernels of this task are written in CUDA C++";
    for (std::size_t i = 0; i < source.solution.sources.size(); ++i) {
      const model::SourceFile& file = source.solution.sources[i];
      if (i > 0 && !is_header_name(file.name))
        return "error: " + syntax_name(file.name) + ": device code is one .cu file; others must be headers (.cuh, .h)";
      if (const std::string reason = syntax::refused_text(file.text); !reason.empty())
        return (i == 0 ? source.name : file.name) + ":" + reason;
    }
    return {};
  }

  static std::string syntax_name(const std::string& name) {
    return name.substr(0, 60).find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
                   std::string::npos
               ? name.substr(0, 60)
               : "a file";
  }

  /// Reads the directives and binds the plan of every workload. What is wrong, else "".
  std::string bind_plans(const Source& source, BuiltCuda& out, std::vector<WorkloadPlan>& plans) const {
    const auto refusal = [&](int line, int column, const std::string& message) {
      return place_text(source.name, line, column) + message;
    };
    auto directives = model::parse_device_directives(model::main_text(source.solution));
    if (!directives) return refusal(directives.error().line, directives.error().column, directives.error().message);
    const auto space = model::expand_tuning(*directives, source.definition);
    if (!space) return refusal(space.error().line, space.error().column, space.error().message);
    if (space->open()) {
      const model::TunedName& first = directives->tuned.front();
      return refusal(first.line, first.column,
                     std::to_string(space->configurations.size()) +
                         " configurations are left open; a baseline needs one value a tuned name");
    }
    for (model::ScratchDirective& scratch : directives->scratch) {
      if (source.real && model::is_floating(scratch.dtype)) scratch.dtype = *source.real;
    }
    std::vector<std::int64_t> tuned_values;
    for (const model::TunedName& tuned : directives->tuned) tuned_values.push_back(tuned.values.front());
    for (const model::Workload& workload : task_.workloads) {
      const model::AxisValues axes = model::bind_axes(source.definition, workload);
      auto plan =
          model::bind_launch_plan(*directives, source.definition, axes, tuned_values, description().launch_limits);
      if (!plan) return refusal(plan.error().line, plan.error().column, for_workload(workload, plan.error().message));
      const std::string name = plan_name(source.definition, axes);
      out.program.plans.insert_or_assign(name, device_plan(*plan, source.definition));
      plans.push_back({&workload, name, std::move(*plan)});
    }
    out.directives = std::move(*directives);
    return {};
  }

  base::Result<Built> build_source(const Source& source, const std::stop_token& stop) {
    auto out = std::make_shared<BuiltCuda>();
    std::string& problem = out->report.diagnostics;
    std::vector<WorkloadPlan> plans;
    problem = source.real ? std::string() : refused_sources(source);
    if (problem.empty()) problem = bind_plans(source, *out, plans);
    if (!problem.empty()) return out;
    TRY_ASSIGN(NvrtcOutcome outcome, compile_source(source, *out, stop));
    out->report.seconds = outcome.seconds;
    if (outcome.limited) TRY(check_header(stop));  // whose limit was it, the kernel's or this machine's
    if (!outcome.compiled) {
      problem = failure_text(source, outcome, *out);
      return out;
    }
    out->program.cubins.push_back({std::move(outcome.cubin), {}});
    TRY(judge(source, outcome.log, plans, *out));
    return out;
  }

  base::Result<NvrtcOutcome> compile_source(const Source& source, const BuiltCuda& built, const std::stop_token& stop) {
    NvrtcJob job{source.name,
                 with_header(source.name, model::main_text(source.solution)),
                 common_options(options_.limits),
                 headers_with(source.header + tuned_macros(built.directives)),
                 {},
                 {},
                 options_.cores};
    for (const auto* more : {&source.options, &built.directives.flags})
      job.options.insert(job.options.end(), more->begin(), more->end());
    for (std::size_t i = 1; i < source.solution.sources.size(); ++i)
      job.headers.emplace_back(source.solution.sources[i].name, source.solution.sources[i].text);
    NvrtcJob quicker = job;
    if (const auto scratch = use_precompiled(source, quicker, stop)) {
      TRY_ASSIGN(NvrtcOutcome outcome, compile(nvrtc_, quicker, options_.gate, stop));
      // What is wrong with the precompiled headers is no fault of the kernel.
      const bool explained = outcome.limited || !device_diagnostics(outcome.log, own_names(source)).empty();
      if (outcome.compiled || explained) return outcome;
    }
    return compile(nvrtc_, job, options_.gate, stop);
  }

  /// Begins the job with precompiled headers where they help; what was compiled with other options cannot be used.
  /// Gives a folder that must be there while the job runs, NVRTC wants to write one then; none: the job is as it was.
  std::optional<base::TemporaryFolder> use_precompiled(const Source& source, NvrtcJob& job,
                                                       const std::stop_token& stop) {
    const bool usual = job.options == common_options(options_.limits);
    if (!usual || !uses_large_headers(model::main_text(source.solution))) return std::nullopt;
    const auto folder = precompiled_.folder(stop);
    auto scratch = base::TemporaryFolder::create("accelopt-nvrtc");
    if (!folder || !scratch) return std::nullopt;
    job.precompiled = *folder;
    job.writable = scratch->path();
    job.source.insert(0, large_headers());
    for (std::string& option : PrecompiledHeaders::options_to_use(*folder)) job.options.push_back(std::move(option));
    return std::move(*scratch);
  }

  static std::vector<std::string> own_names(const Source& source) {
    std::vector<std::string> out{source.name};
    for (std::size_t i = 1; i < source.solution.sources.size(); ++i) out.push_back(source.solution.sources[i].name);
    return out;
  }

  static std::string failure_text(const Source& source, const NvrtcOutcome& outcome, const BuiltCuda& built) {
    if (outcome.limited) return "error: " + outcome.log;
    std::string text = device_diagnostics(outcome.log, own_names(source));
    if (text.empty()) return "error: the compiler failed without a word about the kernel's own lines";
    if (text.find(", a header: ") != std::string::npos && !built.directives.tuned.empty())
      text += "note: tuned names are macros in headers too; choose longer names if one stands there\n";
    return text;
  }

  /// Looks at the cubin: kernels that are there, state that would last, launches that fit. Fills in the report.
  base::Result<void> judge(const Source& source, const std::string& log, const std::vector<WorkloadPlan>& plans,
                           BuiltCuda& out) const {
    devices::cuda::ProgramCubin& built = out.program.cubins.at(0);
    TRY_ASSIGN(const Cubin cubin, devices::cuda::read_cubin(built.bytes));
    if (!source.real) out.report.diagnostics = refused_cubin(cubin);
    std::vector<const CubinKernel*> kernels;  // a launch each
    for (const model::LaunchDirective& launch : out.directives.launches) {
      if (!out.report.diagnostics.empty()) return {};
      kernels.push_back(find_kernel(cubin, launch.kernel));
      if (kernels.back() == nullptr) out.report.diagnostics = missing_kernel(source, launch, cubin);
    }
    if (!out.report.diagnostics.empty()) return {};
    const std::vector<KernelResources> resources = resources_of_launches(parse_resources(log), kernels);
    out.report.diagnostics = refused_plans(source, plans, kernels, resources, out.directives);
    if (!out.report.diagnostics.empty()) return {};
    std::vector<std::string> launched;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const bool first = std::find(launched.begin(), launched.end(), kernels[i]->name) == launched.end();
      if (!first) continue;
      launched.push_back(kernels[i]->name);
      built.kernels.push_back(resources[i]);
      out.report.code_bytes += kernels[i]->code_bytes;
    }
    TRY_ASSIGN(std::string identity, devices::cuda::cubin_code_id(built.bytes, launched));
    for (const WorkloadPlan& bound : plans) identity += '\n' + plan_text(bound.plan, launched);
    out.report.machine_code_id = base::sha256_hex(identity);
    add_remarks(log, plans, resources, out);
    out.report.built = true;
    return {};
  }

  static const CubinKernel* find_kernel(const Cubin& cubin, const std::string& name) {
    const auto found = std::find_if(cubin.kernels.begin(), cubin.kernels.end(),
                                    [&](const CubinKernel& kernel) { return kernel.name == name; });
    return found == cubin.kernels.end() ? nullptr : &*found;
  }

  static std::string missing_kernel(const Source& source, const model::LaunchDirective& launch, const Cubin& cubin) {
    std::string out = place_text(source.name, launch.line, launch.column) + "no kernel \"" + launch.kernel + "\"";
    std::string names;
    for (const CubinKernel& kernel : cubin.kernels) {
      const std::string mangled = "_Z" + std::to_string(launch.kernel.size()) + launch.kernel;
      if (kernel.name.starts_with(mangled)) {
        return out + " with a C name; declare it extern \"C\" __global__ void " + launch.kernel + "(...)";
      }
      if (!kernel.name.starts_with("_Z")) names += (names.empty() ? "" : ", ") + kernel.name;
    }
    out += names.empty() ? "; the source defines no extern \"C\" __global__ function" : "; there are: " + names;
    return out;
  }

  /// What each launch's kernel takes.
  static std::vector<KernelResources> resources_of_launches(const std::vector<KernelResources>& parsed,
                                                            const std::vector<const CubinKernel*>& kernels) {
    std::vector<KernelResources> out;
    for (const CubinKernel* kernel : kernels) {
      KernelResources& resources = out.emplace_back();
      for (const KernelResources& known : parsed) {
        if (known.kernel == kernel->name) resources = known;
      }
      resources.kernel = kernel->name;
      const auto& most = kernel->max_threads;
      resources.max_threads = static_cast<int>(most[0] * std::max(most[1], 1U) * std::max(most[2], 1U));
    }
    return out;
  }

  std::string refused_plans(const Source& source, const std::vector<WorkloadPlan>& plans,
                            const std::vector<const CubinKernel*>& kernels,
                            const std::vector<KernelResources>& resources,
                            const model::DeviceDirectives& directives) const {
    for (const WorkloadPlan& bound : plans) {
      for (std::size_t i = 0; i < bound.plan.launches.size(); ++i) {
        const auto reason =
            refused_launch(bound.plan.launches[i], resources[i], *kernels[i], source.definition, options_.limits);
        if (!reason) continue;
        const model::LaunchDirective& launch = directives.launches[i];
        return place_text(source.name, launch.line, launch.column) + for_workload(*bound.workload, *reason);
      }
    }
    return {};
  }

  void add_remarks(const std::string& log, const std::vector<WorkloadPlan>& plans,
                   const std::vector<KernelResources>& resources, BuiltCuda& out) const {
    for (const WorkloadPlan& bound : plans) {
      if (bound.workload->role == model::Role::held_out) continue;
      const std::vector<devices::cuda::Launch>& launches = out.program.plans.at(bound.name).launches;
      for (std::size_t i = 0; i < launches.size(); ++i) {
        std::string remark = resource_remark(resources[i], launches[i], options_.limits);
        auto& remarks = out.report.remarks;
        if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end() && remarks.size() < 16)
          remarks.push_back(std::move(remark));
      }
    }
    for (std::string& remark : device_remarks(log)) out.report.remarks.push_back(std::move(remark));
  }

  model::Task task_;
  CudaBuildOptions options_;
  Nvrtc nvrtc_;
  std::string header_;
  PrecompiledHeaders precompiled_;
  base::OnceMap<BuiltCuda> built_;
};

/// Whether NVRTC compiles for an architecture like "sm_90a".
bool compiles_for(const Nvrtc& nvrtc, const std::string& architecture) {
  return nvrtc.architectures.empty() ||
         std::any_of(nvrtc.architectures.begin(), nvrtc.architectures.end(), [&](int number) {
           const std::string plain = "sm_" + std::to_string(number);
           return architecture == plain || architecture == plain + "a" || architecture == plain + "f";
         });
}

}  // namespace

base::Result<std::string> find_nvrtc(const CudaBuildOptions& options) {
  TRY_ASSIGN(const Nvrtc nvrtc, locate_nvrtc(places_of(options)));
  return nvrtc.name();
}

base::Result<std::vector<devices::cuda::SlotProgram>> CudaBuilder::build_for(const model::Kernel&,
                                                                             const std::vector<KnownInputs>&,
                                                                             std::stop_token) {
  return base::fail(ErrorCode::unsupported, "plans of these kernels hold for every set of inputs");
}

base::Result<BuiltCudaPtr> CudaBuilder::build_elsewhere(const model::Kernel& kernel, std::stop_token stop) {
  TRY_ASSIGN(const BuiltCudaPtr built, build(kernel, stop));
  TRY_ASSIGN(const BuiltCudaPtr copy, build(model::Kernel(with_padding(kernel.solution())), std::move(stop)));
  TRY_ASSIGN(const bool elsewhere, lies_elsewhere(*built, *copy));
  return elsewhere ? copy : built;
}

base::Result<evaluation::HostCalls> CudaBuilder::call_host_function(const model::Kernel&, const model::AxisValues&,
                                                                    const std::vector<evaluation::Bytes>&,
                                                                    std::stop_token) {
  return base::fail(base::ErrorCode::unsupported, "kernels of this target have no host function");
}

base::Result<std::unique_ptr<CudaBuilder>> make_cuda_builder(const model::Task& task, CudaBuildOptions options,
                                                             const std::stop_token& stop) {
  TRY_ASSIGN(Nvrtc nvrtc, locate_nvrtc(places_of(options)));
  if (!compiles_for(nvrtc, options.limits.architecture)) {
    return base::fail(ErrorCode::unsupported, nvrtc.name() + " (" + nvrtc.library + ") cannot compile for " +
                                                  options.limits.architecture + "; install a newer CUDA toolkit");
  }
  auto out = std::make_unique<NvrtcBuilder>(task, std::move(options), std::move(nvrtc));
  TRY(out->check_header(stop));
  return out;
}

}  // namespace accelopt::targets::cuda
