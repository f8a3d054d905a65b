// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/neuron_device.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "capture/package.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"
#include "targets/trainium/package.hpp"
#include "targets/trainium/task_check.hpp"

namespace accelopt::targets::trainium {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Json;
using base::Result;

constexpr int kProtocol = 1;  ///< of python/accelopt_neuron
constexpr const char* kKernelFile = "kernel.py";
constexpr const char* kNeff = "file.neff";
constexpr const char* kNtff = "profile.ntff";
constexpr const char* kProfiler = "neuron-profile";
constexpr const char* kToolFolder = "/opt/aws/neuron/bin";  ///< of the package aws-neuronx-tools
/// As the public benchmark compiles: addresses of DMA are made ahead, a core is a core.
constexpr const char* kCompileOptions = "--disable-dge --logical-nc-config=1";
constexpr std::size_t kMostAnswerBytes = 1U << 20;
constexpr std::size_t kMostProgramBytes = 1U << 30;
constexpr std::size_t kMostSaid = 4000;
constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::minutes kProfileLimit{5};

std::string variable(const capture::PythonOptions& options, const char* name) {
  const auto found = options.environment.find(name);
  return found == options.environment.end() ? std::string() : found->second;
}

/// Folders with programs: of the Python, the user's, and where the vendor installs.
std::vector<fs::path> program_folders(const capture::PythonOptions& options, const capture::Python& python) {
  std::vector<fs::path> out{python.program.parent_path()};
  const std::string path = variable(options, "PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (const fs::path one = path.substr(begin, end - begin); one.is_absolute()) out.push_back(one);
    begin = end + 1;
  }
  out.emplace_back(kToolFolder);
  return out;
}

std::vector<fs::path> device_files() {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    if (entry.path().filename().string().starts_with("neuron")) out.push_back(entry.path());
  }
  return out;
}

/// What the vendor's programs may reach. A Python adds the folders that it imports from.
sandbox::FileRules rules_of(const capture::Python& python, const fs::path& profiler, const fs::path& package,
                            const fs::path& own) {
  std::error_code ignored;
  sandbox::FileRules rules{
      {"/lib", "/lib64", "/usr", "/bin", "/sbin", "/opt", "/nix/store", "/etc", "/proc", "/sys", "/dev/urandom",
       python.packages, python.program.parent_path().parent_path(),
       fs::canonical(python.program, ignored).parent_path().parent_path(), profiler.parent_path(), package},
      {"/dev/null", "/dev/shm", "/proc/self", own}};
  for (const fs::path& file : device_files()) rules.writable.push_back(file);
  return rules;
}

Json json_of(const sandbox::FileRules& rules) {
  const auto texts = [](const std::vector<fs::path>& paths) {
    Json out = Json::array();
    for (const fs::path& path : paths) out.push_back(path.string());
    return out;
  };
  return {{"readable", texts(rules.readable)}, {"writable", texts(rules.writable)}};
}

std::string in_words(const sandbox::ExitState& state) {
  return state.exited ? fmt::format("ended with code {}", state.code)
                      : fmt::format("was ended by signal {}", state.signal);
}

/// The last of what a program said.
std::string tail(std::string_view said) {
  const std::string_view text = base::trimmed(said);
  return std::string(text.size() > kMostSaid ? text.substr(text.size() - kMostSaid) : text);
}

std::string seconds_text(std::chrono::nanoseconds limit) {
  return fmt::format("{:.3g} s", std::chrono::duration<double>(limit).count());
}

Json tensor_form(const model::TensorSpec& tensor, const model::AxisValues& axes, const std::string& file) {
  return {{"name", tensor.name}, {"shape", model::shape_of(tensor, axes)}, {"file", file}};
}

/// Asks for a stop where a program does not end in time: the time to compile ends where its result is there, and that
/// to run begins.
class Watch {
 public:
  Watch(fs::path compiled, std::chrono::nanoseconds compile, std::chrono::nanoseconds run, const std::stop_token& stop)
      : forward_(stop, [this] { stop_.request_stop(); }),
        thread_([this, compiled = std::move(compiled), compile, run](const std::stop_token& done) {
          watch(compiled, compile, run, done);
        }) {}

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  /// Joins; whether time ran out.
  bool over() {
    thread_.request_stop();
    thread_.join();
    return over_;
  }

 private:
  void watch(const fs::path& compiled, std::chrono::nanoseconds compile, std::chrono::nanoseconds run,
             const std::stop_token& done) {
    using Clock = std::chrono::steady_clock;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    auto deadline = Clock::now() + compile;
    bool runs = false;
    std::error_code ignored;
    while (!done.stop_requested() && Clock::now() < deadline) {
      changed.wait_for(lock, done, kLook, [] { return false; });
      if (runs || !fs::exists(compiled, ignored)) continue;
      runs = true;
      deadline = Clock::now() + run;
    }
    if (done.stop_requested()) return;
    over_ = true;
    stop_.request_stop();
  }

  std::stop_source stop_;
  std::stop_callback<std::function<void()>> forward_;
  bool over_ = false;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<NeuronDevice>> NeuronDevice::open(NeuronOptions options, const std::stop_token& stop) {
  TRY_ASSIGN(capture::Python python, capture::find_python_with(options.python, "neuronxcc"));
  fs::path profiler;
  for (const fs::path& folder : program_folders(options.python, python)) {
    if (access((folder / kProfiler).c_str(), X_OK) != 0) continue;
    profiler = folder / kProfiler;
    break;
  }
  if (profiler.empty())
    return base::fail(ErrorCode::unsupported,
                      fmt::format("there is no {} beside {}, on the PATH or in {}: it tells how long a kernel ran; "
                                  "install the package aws-neuronx-tools",
                                  kProfiler, python.program.string(), kToolFolder));
  TRY_ASSIGN(base::TemporaryFolder files, base::TemporaryFolder::create("accelopt-neuron"));
  const fs::path package = files.path() / "accelopt_neuron";
  TRY(base::make_folders(package));
  for (const PackageFile& file : package_files()) TRY(base::write_file(package / file.name, file.text));
  for (const capture::PackageFile& file : capture::package_files()) {
    if (file.name == "landlock.py" || file.name == "kernel_calls.py")
      TRY(base::write_file(package / file.name, file.text));
  }
  std::unique_ptr<NeuronDevice> out(
      new NeuronDevice(std::move(options), std::move(python), std::move(profiler), std::move(files)));
  TRY(out->describe(stop));
  return out;
}

Result<void> NeuronDevice::describe(const std::stop_token& stop) {
  TRY_ASSIGN(const Ended ended, ask({{"operation", "describe"}}, options_.run_limit, stop));
  if (const auto error = ended.answer.find("error"); error != ended.answer.end())
    return base::fail(ErrorCode::unsupported, python_.program.string() + ": " + base::text_at(*error, "message"));
  const auto ok = ended.answer.find("ok");
  if (ok == ended.answer.end() || !ok->is_object())
    return base::fail(ErrorCode::unsupported,
                      python_.program.string() + ": the process that imports neuronxcc " +
                          (ended.timed_out ? "did not end within " + seconds_text(options_.compile_limit) : ended.how));
  version_ = "neuronxcc " + base::text_at(*ok, "neuronxcc") + " (Python " + base::text_at(*ok, "python") + ")";
  machine_ = base::text_at(*ok, "machine");
  return {};
}

Result<NeuronDevice::Ended> NeuronDevice::ask(const Json& request, std::chrono::nanoseconds limit,
                                              const std::stop_token& stop) {
  const fs::path own = files_.path() / "call";
  TRY(base::make_folders(own / "tmp"));
  Json whole = request;
  whole["protocol"] = kProtocol;
  TRY(base::write_file(own / "request.json", base::canonical(whole)));
  sandbox::SpawnOptions options;
  options.program = python_.program.string();
  options.arguments = {"-I", "-B", (files_.path() / "accelopt_neuron").string(), own.string()};
  if (sandbox::capabilities().landlock > 0)
    options.arguments.push_back(
        base::canonical(json_of(rules_of(python_, profiler_, files_.path() / "accelopt_neuron", own))));
  options.directory = own.string();
  std::string path;
  for (const fs::path& folder : program_folders(options_.python, python_))
    path += (path.empty() ? "" : ":") + folder.string();
  options.environment = {"LC_ALL=C.UTF-8",
                         "HOME=" + own.string(),
                         "TMPDIR=" + (own / "tmp").string(),
                         "PATH=" + path,
                         "NEURON_RT_VISIBLE_CORES=" + std::to_string(options_.core),
                         "NEURON_CC_FLAGS=--auto-cast=none",
                         "NEURON_COMPILE_CACHE_URL=" + (own / "cache").string()};
  if (const std::string libraries = variable(options_.python, "LD_LIBRARY_PATH"); !libraries.empty())
    options.environment.push_back("LD_LIBRARY_PATH=" + libraries);
  // The driver knows its users by their process ids, which a namespace of their own would hide.
  options.own_namespaces = false;
  std::optional<sandbox::FilterProgram> filter;
  if (sandbox::capabilities().filters) {
    TRY_ASSIGN(filter, sandbox::compile_filter(sandbox::FilterKind::compile));
    options.filter = &*filter;
  }
  Watch watch(own / kNeff, options_.compile_limit, limit, stop);
  const auto ran = sandbox::run(std::move(options), {.wall = std::chrono::hours(24)}, nullptr, watch.token());
  Ended out;
  out.timed_out = watch.over();
  if (!ran && !(out.timed_out && ran.error().code == ErrorCode::cancelled)) return tl::make_unexpected(ran.error());
  if (ran) out.how = in_words(ran->state) + (ran->output.empty() ? "" : ":\n" + tail(ran->output));
  const auto text = base::read_foreign_file(own / "answer.json", kMostAnswerBytes);
  if (!text) return out;
  auto answer = base::parse_json(*text, "what the process of the vendor's package left");
  if (answer && answer->is_object()) out.answer = std::move(*answer);
  return out;
}

Result<Json> NeuronDevice::write_call(const model::Kernel& kernel, const model::Definition& definition,
                                      const model::AxisValues& axes, const std::vector<evaluation::Bytes>& inputs) {
  const fs::path own = files_.path() / "call";
  std::error_code failed;
  fs::remove_all(own, failed);
  if (failed) return base::fail(ErrorCode::io, own.string() + ": " + failed.message());
  TRY(base::make_folders(own));
  TRY(base::write_file(own / kKernelFile, kernel.solution().sources.front().text));
  Json given = Json::array();
  for (std::size_t i = 0; i < definition.inputs.size(); ++i) {
    const model::TensorSpec& input = definition.inputs[i];
    if (!input.shape) {
      TRY_ASSIGN(const Json value, scalar_of(input));
      given.push_back({{"name", input.name}, {"value", value}});
      continue;
    }
    const std::string file = "in" + std::to_string(i);
    const auto bytes = static_cast<std::size_t>(model::element_count(input, axes)) * sizeof(float);
    if (inputs.empty())
      TRY(base::write_file(own / file, std::string(bytes, '\0')));
    else
      TRY(base::write_file(own / file, {reinterpret_cast<const char*>(inputs.at(i).data()), inputs.at(i).size()}));
    given.push_back(tensor_form(input, axes, file));
  }
  Json taken = Json::array();
  for (std::size_t i = 0; i < definition.outputs.size(); ++i)
    taken.push_back(tensor_form(definition.outputs[i], axes, "out" + std::to_string(i)));
  return Json{{"operation", "run"},         {"file", kKernelFile},
              {"function", kEntry},         {"compile_options", kCompileOptions},
              {"inputs", std::move(given)}, {"outputs", std::move(taken)}};
}

/// What the vendor's package said of it. @error unavailable: the device is to blame; unsupported: the package.
Result<void> NeuronDevice::blame(const Json& error, const std::string& name, NeuronRun& run) const {
  const std::string kind = base::text_at(error, "kind");
  std::string message = base::text_at(error, "message");
  const std::string place = (files_.path() / "call" / kKernelFile).string();
  for (auto at = message.find(place); at != std::string::npos; at = message.find(place, at))
    message.replace(at, place.size(), name);
  if (kind == "lost" || kind == "busy") {
    const bool lost = kind == "lost";
    return base::fail(
        ErrorCode::unavailable,
        fmt::format("the device neuron:{} {} ({}): {}; {}", options_.core, lost ? "was lost" : "is another process's",
                    base::text_at(error, "status"), message,
                    lost ? "look at it with neuron-ls, load its driver anew or restart the machine, and begin again"
                         : "neuron-ls says whose"));
  }
  if (kind == "setup") return base::fail(ErrorCode::unsupported, python_.program.string() + ": " + message);
  run.end = kind == "run" ? RunEnd::failed : RunEnd::refused;
  const auto line = error.find("line");
  const bool located = line != error.end() && line->is_number_integer() && line->get<int>() > 0;
  run.reason = fmt::format("{}{}: error: {}", name, located ? fmt::format(":{}", line->get<int>()) : "", message);
  return {};
}

Result<NeuronRun> NeuronDevice::run(const model::Kernel& kernel, const model::Definition& definition,
                                    const model::AxisValues& axes, const std::vector<evaluation::Bytes>& inputs,
                                    std::chrono::nanoseconds limit, const std::stop_token& stop) {
  const std::scoped_lock lock(mutex_);
  const auto began = std::chrono::steady_clock::now();
  const std::string& name = kernel.solution().sources.front().name;
  const fs::path own = files_.path() / "call";
  TRY_ASSIGN(const Json request, write_call(kernel, definition, axes, inputs));
  limit += options_.host_limit;
  TRY_ASSIGN(const Ended ended, ask(request, limit, stop));
  NeuronRun out;
  if (const auto program = base::read_foreign_file(own / kNeff, kMostProgramBytes)) {
    out.program_id = base::sha256_hex(*program);
    out.program_bytes = static_cast<std::int64_t>(program->size());
  }
  const bool compiled = !out.program_id.empty();
  const auto error = ended.answer.find("error");
  if (ended.timed_out) {
    out.end = compiled ? RunEnd::timed_out : RunEnd::refused;
    out.reason =
        compiled ? "its run on the device did not end within " + seconds_text(limit)
                 : name + ": error: the vendor's compiler did not end within " + seconds_text(options_.compile_limit);
  } else if (error != ended.answer.end() && error->is_object()) {
    TRY(blame(*error, name, out));
  } else if (!ended.answer.contains("ok")) {
    out.end = compiled ? RunEnd::failed : RunEnd::refused;
    out.reason = fmt::format("{}: error: the process that {} it {}", name, compiled ? "ran" : "compiled", ended.how);
  } else {
    for (std::size_t i = 0; i < definition.outputs.size() && out.end == RunEnd::done; ++i) {
      TRY_ASSIGN(std::string bytes, base::read_file(own / ("out" + std::to_string(i))));
      const auto due = static_cast<std::size_t>(model::element_count(definition.outputs[i], axes)) * sizeof(float);
      if (bytes.size() != due) {
        out.end = RunEnd::failed;
        out.reason = fmt::format("it left {} bytes of the output {}, which has {}", bytes.size(),
                                 definition.outputs[i].name, due);
      }
      out.outputs.push_back(std::move(bytes));
    }
    if (out.end == RunEnd::done) TRY(read_profile(out, stop));
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

/// In a process of its own, that the kernel's code has never been in.
Result<void> NeuronDevice::read_profile(NeuronRun& run, const std::stop_token& stop) {
  const fs::path own = files_.path() / "call";
  sandbox::SpawnOptions options;
  options.program = profiler_.string();
  options.arguments = {"view", "--output-format", "summary-json", "-n", kNeff, "-s", kNtff};
  options.directory = own.string();
  options.environment = {"LC_ALL=C.UTF-8", "HOME=" + own.string(), "TMPDIR=" + (own / "tmp").string(),
                         "PATH=" + profiler_.parent_path().string() + ":/usr/local/bin:/usr/bin:/bin"};
  const fs::path complaints = own / "profile.err";
  base::FileDescriptor said(::open(complaints.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!said.valid()) return base::fail(ErrorCode::io, complaints.string() + ": cannot be written");
  options.descriptors = {{said.get(), STDERR_FILENO}};
  base::FileDescriptor rules;
  if (sandbox::capabilities().landlock > 0) {
    TRY_ASSIGN(rules, sandbox::make_rule_set(rules_of(python_, profiler_, files_.path() / "accelopt_neuron", own)));
    options.file_rules = &rules;
  }
  TRY_ASSIGN(const sandbox::RunResult told, sandbox::run(std::move(options), {.wall = kProfileLimit}, nullptr, stop));
  const auto untimed = [&](const std::string& why) {
    run.end = RunEnd::untimed;
    run.reason = fmt::format("it ran, and {} makes nothing of its trace: {}", kProfiler, why);
  };
  if (told.timed_out) {
    untimed("no answer within " + seconds_text(kProfileLimit));
    return {};
  }
  if (!told.state.exited || told.state.code != 0) {
    const auto text = base::read_foreign_file(complaints, kMostAnswerBytes);
    untimed("it " + in_words(told.state) + (text && !text->empty() ? ": " + tail(*text) : ""));
    return {};
  }
  const auto summary = base::parse_json(told.output, "its summary");
  if (!summary || !summary->is_object() || summary->empty() || !summary->front().is_object()) {
    untimed("its summary is no JSON object of objects");
    return {};
  }
  for (const auto& [name, value] : summary->front().items()) {
    if (value.is_number()) run.figures[name] = value.get<double>();
  }
  const auto total = run.figures.find("total_time");
  if (total == run.figures.end() || !(total->second > 0)) {
    untimed("its summary has no total_time");
    return {};
  }
  run.time_ns = total->second * 1e9;
  return {};
}

}  // namespace accelopt::targets::trainium
