// SPDX-License-Identifier: Apache-2.0
#include "fuzz/readers.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agents/answers.hpp"
#include "agents/edits.hpp"
#include "agents/kernel_file.hpp"
#include "base/expression.hpp"
#include "bundles/bundle.hpp"
#include "bundles/files.hpp"
#include "capture/answer.hpp"
#include "capture/request.hpp"
#include "devices/cuda/cubin.hpp"
#include "evaluation/requests.hpp"
#include "llm/sse.hpp"
#include "llm/wire.hpp"
#include "model/directives.hpp"
#include "model/launch_plan.hpp"
#include "suites/flashinfer_trace/safetensors.hpp"
#include "suites/flashinfer_trace/schema.hpp"
#include "suites/task_reader.hpp"
#include "worker/protocol.hpp"

namespace accelopt::fuzz {
namespace {

namespace files = std::filesystem;
namespace flashinfer = suites::flashinfer_trace;
using base::Json;

/// What came of a Result: "taken", or why not.
template <class T>
std::string outcome(const base::Result<T>& result) {
  return result ? "taken" : result.error().message;
}

/// A folder of this process, gone with it.
class Scratch {
 public:
  Scratch() : path_(files::temp_directory_path() / ("accelopt-fuzz-" + std::to_string(getpid()))) {
    files::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    files::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const files::path& path() const { return path_; }

 private:
  files::path path_;
};

const files::path& scratch() {
  static const Scratch folder;
  return folder.path();
}

void write(const files::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string task_toml(std::string_view input) {
  const auto text = suites::read_task_toml(input);
  return text.problems.empty() ? "taken" : text.problems.front().message;
}

std::string expression(std::string_view input) {
  const auto names = base::expression_names(input);
  std::map<std::string, std::int64_t> values;
  for (const std::string& name : names ? *names : std::vector<std::string>())
    values[name] = static_cast<std::int64_t>(name.size()) * 1'000'003;
  const auto value = base::evaluate_expression(input, values);
  const auto fault = base::expression_fault(input);
  return outcome(value) + (fault ? fault->reason : "");
}

std::string directives(std::string_view input) {
  const auto read = model::parse_cpu_directives(input);
  return read ? "taken" : read.error().message;
}

std::string device_directives(std::string_view input) {
  const auto read = model::parse_device_directives(input);
  return read ? "taken" : read.error().message;
}

std::string answers(std::string_view input) {
  const auto why = [](const auto& parsed) { return parsed ? std::string("taken; ") : parsed.error() + "; "; };
  return why(agents::parse_plan(input, {})) + why(agents::parse_plans(input, {}, 4)) +
         why(agents::parse_kernel_file(input)) + why(agents::parse_lessons(input, 1)) +
         why(agents::parse_lessons(input, 3)) + (agents::title_before_file(input).empty() ? "" : "a title");
}

/// The source, a line "=====", and the answer that edits it.
std::string edits(std::string_view input) {
  constexpr std::string_view kBorder = "\n=====\n";
  const auto border = input.find(kBorder);
  const auto source = border == std::string_view::npos ? std::string_view() : input.substr(0, border);
  const auto answer = border == std::string_view::npos ? input : input.substr(border + kBorder.size());
  const auto edited = agents::edited(answer, source);
  return (agents::has_edits(answer) ? "edits; " : "") + (edited ? "taken" : edited.error());
}

/// The stream of a provider, in pieces of 1, 2, 3, ... bytes.
std::string stream(llm::Api api, std::string_view input) {
  llm::SseReader events;
  const auto reader = llm::wire_format(api).reader();
  std::string said;
  const auto take = [&](const std::vector<std::string>& all) {
    for (const std::string& data : all) {
      if (data == "[DONE]") continue;
      const auto taken = reader->take(data);
      if (!taken && said.empty()) said = taken.error().words;
    }
  };
  for (std::size_t at = 0, size = 1; at < input.size(); at += size++) take(events.feed(input.substr(at, size)));
  take(events.finish());
  return said + (reader->finished() ? " finished" : "") + (reader->closed() ? " closed" : "") +
         (reader->has_usage() ? " usage" : "");
}

std::string hello(std::string_view input) {
  worker::LineBuffer lines;
  std::string said;
  for (std::size_t at = 0, size = 1; at < input.size(); at += size++) {
    lines.add(input.substr(at, size));
    while (const auto line = lines.next()) {
      if (worker::find_hello(*line)) said += "hello ";
    }
  }
  return said;
}

std::string request(std::string_view input) {
  const auto json = base::parse_json(input, "request");
  if (!json) return "no JSON";
  const auto bundled = evaluation::parse_bundled(*json);
  return outcome(evaluation::parse_request(*json)) + outcome(bundled);
}

/// A line with the request, and one with the reply to it.
std::string reply(std::string_view input) {
  const auto border = input.find('\n');
  if (border == std::string_view::npos) return "no reply";
  const auto asked = base::parse_json(input.substr(0, border), "request");
  const auto answered = base::parse_json(input.substr(border + 1), "reply");
  if (!asked || !answered) return "no JSON";
  const auto parsed = evaluation::parse_request(*asked);
  if (!parsed) return parsed.error().message;
  const auto result = answered->is_object() ? answered->value("result", Json()) : *answered;
  return outcome(evaluation::parse_reply(*parsed, result, "a worker")) +
         outcome(evaluation::check_form(*asked, result));
}

/// The manifest of a bundle whose other files are whole, with its own hash made anew.
std::string bundle(const files::path& whole, std::string_view input) {
  const files::path folder = scratch() / "bundle";
  if (!files::exists(folder)) files::copy(whole, folder, files::copy_options::recursive);
  const auto json = bundles::parse_distrusted(input, "bundle.json");
  const bool may_be_sealed = json && json->is_object();
  write(folder / "bundle.json",
        may_be_sealed ? bundles::sealed(*json, "accelopt-bundle", "bundle") : std::string(input));
  const auto read = bundles::read_bundle(folder);
  if (!read) return read.error().message;
  return "taken; " + outcome(bundles::read_results(folder, *read));
}

std::string cubin(std::string_view input) {
  const auto read = devices::cuda::read_cubin(input);
  if (!read) return read.error().message;
  // A letter a piece: what was understood is all that tells how far the reader came.
  std::string said = "taken ";
  std::vector<std::string> names;
  for (const auto& kernel : read->kernels) {
    names.push_back(kernel.name);
    said += "k" + std::string(std::min<std::size_t>(kernel.parameters.size(), 8), 'p') +
            (kernel.max_threads[0] != 0 ? "m" : "") + (kernel.required_threads[0] != 0 ? "r" : "") +
            (kernel.cluster[0] != 0 ? "c" : "") + (kernel.code_bytes == 0 ? "e" : "");
  }
  said += std::string(std::min<std::size_t>(read->variables.size(), 8), 'v') +
          std::string(std::min<std::size_t>(read->missing.size(), 8), 'x');
  return said + outcome(devices::cuda::cubin_code_id(input, names));
}

std::string captured(std::string_view input) {
  static const model::Solution solution{model::Language("python"), {{"main.py", "..."}}};
  static const capture::Request request{
      .solution = solution,
      .function = "run",
      .architecture = 90,
      .workloads = {{"w0", {{"x", model::DType::float32, {4}, false}}, {{"y", model::DType::float32, {4}, false}}}}};
  const auto json = bundles::parse_distrusted(input, "answer");
  return json ? outcome(capture::read_captured(*json, request)) : "no JSON";
}

std::string safetensors(std::string_view input) {
  const files::path file = scratch() / "input.safetensors";
  write(file, input);
  const auto opened = flashinfer::Safetensors::open(file);
  if (!opened) return opened.error().message;
  std::string said = "taken; ";
  for (const auto& [name, tensor] : opened->tensors()) {
    if (flashinfer::is_readable(tensor.dtype)) said += outcome(opened->read(tensor)) + "; ";
  }
  return said;
}

std::string trace(std::string_view input) {
  const auto json = flashinfer::parse_bounded(input);
  if (!json) return json.error().message;
  return outcome(flashinfer::read_definition(*json)) + outcome(flashinfer::read_workload(*json)) +
         outcome(flashinfer::read_solution(*json)) + outcome(flashinfer::read_trace(*json));
}

}  // namespace

std::vector<Reader> readers(const files::path& fixtures) {
  const files::path whole_bundle = fixtures / "versions" / "bundle-1";
  return {
      {"task_toml", task_toml},
      {"expression", expression},
      {"directives", directives},
      {"device_directives", device_directives},
      {"answers", answers},
      {"edits", edits},
      {"stream_openai", [](std::string_view input) { return stream(llm::Api::openai, input); }},
      {"stream_anthropic", [](std::string_view input) { return stream(llm::Api::anthropic, input); }},
      {"stream_gemini", [](std::string_view input) { return stream(llm::Api::gemini, input); }},
      {"hello", hello},
      {"request", request},
      {"reply", reply},
      {"bundle", [whole_bundle](std::string_view input) { return bundle(whole_bundle, input); }},
      {"cubin", cubin},
      {"captured", captured},
      {"safetensors", safetensors},
      {"trace", trace},
      {"evidence", read_evidence},
  };
}

}  // namespace accelopt::fuzz
