// SPDX-License-Identifier: Apache-2.0
// How far is the model of Trainium off? The public NKI benchmark's fourteen kernels, from a user's checkout of it, as
// the model times them, against what was recorded on a Trainium 1.
//
//   nki CHECKOUT [--only OPERATOR]...
//   nki CHECKOUT --tutorials
//   nki CHECKOUT --execute OPERATOR DIR [KERNEL]
//
// The first form prints a line for each kernel, no factor per operator applied, what refits of the fitted constants
// come to that leave out one kernel each, and the model's bounds; of all kernels also the second form, which tells in
// what order the model puts the variants of the vendor's tutorials. The third one runs the kernel, or the file KERNEL
// in its place, on DIR/in0.f32, DIR/in1.f32 ... (raw float32, epsilon left out) and writes DIR/out.f32: for scripts
// that hold whole outputs against references. It prints the time, and how much memory its tiles and this process took.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "figures.hpp"
#include "nki_left_out.hpp"
#include "nki_public.hpp"
#include "nki_tutorials.hpp"
#include "targets/trainium/execute.hpp"
#include "targets/trainium/tracer.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
namespace trainium = targets::trainium;
using Clock = std::chrono::steady_clock;

constexpr double kNear = 0.15;            ///< of what was recorded
constexpr double kWantedNear = 12;        ///< kernels of fourteen
constexpr double kMostError = 0.08;       ///< mean |log error|
constexpr double kMostMedianSeconds = 2;  ///< from a source to its verdict, without the reference
constexpr double kMostSeconds = 12;
constexpr double kMostMove = 0.05;  ///< of a kernel's time, by leaving it out of the fit

struct Options {
  fs::path checkout;
  std::set<std::string> only;
  bool tutorials = false;
  std::string execute;
  fs::path folder;
  fs::path kernel;
};

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: nki CHECKOUT [--only OPERATOR]...\n       nki CHECKOUT --tutorials\n       nki CHECKOUT "
               "--execute OPERATOR DIR [KERNEL]\n");
  std::exit(2);
}

Options read_options(const std::vector<std::string>& words) {
  Options out;
  if (words.empty() || words[0].starts_with("-")) usage();
  out.checkout = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--only" && i + 1 < words.size()) {
      out.only.insert(words[++i]);
    } else if (words[i] == "--tutorials") {
      out.tutorials = true;
    } else if (words[i] == "--execute" && i + 2 < words.size() && out.execute.empty()) {
      out.execute = words[i + 1];
      out.folder = words[i + 2];
      i += 2;
      if (i + 1 < words.size()) out.kernel = words[++i];
    } else {
      usage();
    }
  }
  return out;
}

capture::PythonOptions python() {
  capture::PythonOptions out;
  for (const char* name : {"ACCELOPT_PYTHON", "VIRTUAL_ENV", "PATH"}) {
    if (const char* value = std::getenv(name)) out.environment[name] = value;
  }
  return out;
}

/// @error invalid_argument: the kernel is refused, and why.
base::Result<trainium::TracedPlan> traced(const PublicKernel& kernel, const fs::path& file) {
  const model::Task task = task_of(kernel);
  TRY_ASSIGN(const auto tracer, trainium::Tracer::create(task, trainium::kTrn1, python(), {}));
  TRY_ASSIGN(const model::Kernel source, kernel_of(file));
  TRY_ASSIGN(const trainium::BuiltPtr built, tracer->build(source, {}));
  if (!built->report.built) return base::fail(base::ErrorCode::invalid_argument, built->report.diagnostics);
  return built->plans.begin()->second;
}

fs::path file_of(const Options& options, const PublicKernel& kernel) {
  return options.checkout / "NKIBench/kernels" / kernel.file;
}

struct Row {
  double log_error = 0;
  double seconds = 0;
  RecordedKernel kernel{};
};

using Recorded = std::map<std::string, double>;

double figure(const Recorded& recorded, const char* name) {
  const auto found = recorded.find(name);
  return found == recorded.end() ? 0 : found->second;
}

void print_counters(const trainium::Lowered& traffic, const Recorded& recorded) {
  const auto one = [&](const char* name, double modelled) {
    std::printf("    %-18s %14.0f %14.0f\n", name, modelled, figure(recorded, name));
  };
  one("hbm_read_bytes", static_cast<double>(traffic.read_bytes));
  one("hbm_write_bytes", static_cast<double>(traffic.written_bytes));
  one("psum_read_bytes", static_cast<double>(traffic.counters.psum_read));
  one("psum_write_bytes", static_cast<double>(traffic.counters.psum_written));
  one("sbuf_read_bytes", static_cast<double>(traffic.counters.sbuf_read));
  one("sbuf_write_bytes", static_cast<double>(traffic.counters.sbuf_written));
  one("spill_save_bytes", static_cast<double>(traffic.saved_bytes));
  one("spill_reload_bytes", static_cast<double>(traffic.reloaded_bytes));
  one("hardware_flops", traffic.counters.flops);
  one("transpose_flops", traffic.counters.transpose_flops);
}

base::Result<Row> compare(const Options& options, const PublicKernel& kernel, const Recorded& recorded) {
  const auto begin = Clock::now();
  TRY_ASSIGN(trainium::TracedPlan plan, traced(kernel, file_of(options, kernel)));
  Row out;
  out.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const trainium::Modelled& time = plan.time;
  const double modelled = std::sqrt(time.hoist.ns * time.literal.ns) / 1e6;
  const double ms = figure(recorded, "latency");
  out.log_error = std::log(modelled / ms);
  std::printf("%-24s hoist %7.3f literal %7.3f mean %7.3f recorded %7.3f ms, ratio %.3f; %zu instructions, %.1f s\n",
              kernel.name.c_str(), time.hoist.ns / 1e6, time.literal.ns / 1e6, modelled, ms, modelled / ms,
              plan.program.instructions.size(), out.seconds);
  const auto share = [&](trainium::Queue queue) {
    return 100 * time.literal.busy_ns.at(static_cast<std::size_t>(queue)) / time.literal.ns;
  };
  std::printf("    active %%: TensorE %.0f VectorE %.0f (%.0f) ScalarE %.0f (%.0f) DMA %.0f + %.0f\n",
              share(trainium::Queue::tensor), share(trainium::Queue::vector),
              100 * figure(recorded, "vector_engine_active_time_percent"), share(trainium::Queue::scalar),
              100 * figure(recorded, "scalar_engine_active_time_percent"), share(trainium::Queue::load),
              share(trainium::Queue::store));
  print_counters(time.traffic, recorded);
  std::fflush(stdout);
  out.kernel = {kernel.name, std::move(plan.program), ms};
  return out;
}

base::Result<void> report_tutorials(const Options& options, Figures& figures) {
  TRY_ASSIGN(const Orders orders, order_tutorials(options.checkout, python()));
  figures.report("pairs of the tutorials' variants in the right order", orders.right, Bound::at_least, orders.pairs);
  return {};
}

base::Result<int> tutorials_alone(const Options& options) {
  Figures figures;
  TRY(report_tutorials(options, figures));
  return figures.exit_status();
}

base::Result<int> compare_all(const Options& options) {
  TRY_ASSIGN(const auto recorded, read_recorded(options.checkout));
  std::vector<Row> rows;
  for (const PublicKernel& kernel : public_kernels()) {
    if (!options.only.empty() && !options.only.contains(kernel.name)) continue;
    const auto own = recorded.find(kernel.name);
    if (own == recorded.end()) continue;
    TRY_ASSIGN(Row row, compare(options, kernel, own->second));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) usage();
  Figures figures;
  std::vector<RecordedKernel> kernels;
  for (Row& row : rows) kernels.push_back(std::move(row.kernel));
  if (kernels.size() > 1) {
    TRY_ASSIGN(const Refit refit, leave_one_out(kernels));
    print(refit);
    figures.report("largest move of a time by leaving its kernel out", largest_move(refit), Bound::at_most, kMostMove);
  }
  double sum = 0;
  double near = 0;
  std::vector<double> seconds;
  for (const Row& row : rows) {
    sum += std::fabs(row.log_error);
    near += std::fabs(std::expm1(row.log_error)) <= kNear ? 1 : 0;
    seconds.push_back(row.seconds);
  }
  std::sort(seconds.begin(), seconds.end());
  figures.report("kernels within 15 % of what was recorded", near, Bound::at_least, kWantedNear);
  figures.report("mean |log error|", sum / static_cast<double>(rows.size()), Bound::at_most, kMostError);
  figures.report("trace and time, median", seconds[seconds.size() / 2], Bound::at_most, kMostMedianSeconds, "s");
  figures.report("trace and time, worst", seconds.back(), Bound::at_most, kMostSeconds, "s");
  if (options.only.empty()) TRY(report_tutorials(options, figures));  // last: a checkout may be without its samples
  return figures.exit_status();
}

constexpr double kMebibyte = 1 << 20;

/// Mebibytes of all tiles, and of those that are alive at once in the kernel's order, from first write to last use.
std::pair<double, double> tiles_of(const trainium::Program& program) {
  constexpr std::size_t kNever = ~std::size_t{0};
  std::vector<std::size_t> first(program.buffers.size(), kNever);
  std::vector<std::size_t> last(program.buffers.size(), 0);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    std::vector<std::uint32_t> views = program.instructions[i].sources;
    views.push_back(program.instructions[i].target);
    for (const std::uint32_t view : views) {
      const std::uint32_t buffer = program.view(view).buffer;
      first[buffer] = std::min(first[buffer], i);
      last[buffer] = i;
    }
  }
  double all = 0;
  std::vector<double> change(program.instructions.size() + 1, 0);
  for (std::size_t buffer = 0; buffer < first.size(); ++buffer) {
    if (first[buffer] == kNever || !trainium::on_chip(program.buffers[buffer].space)) continue;
    const double own = static_cast<double>(program.buffers[buffer].size() * trainium::kElementBytes) / kMebibyte;
    all += own;
    change[first[buffer]] += own;
    change[last[buffer] + 1] -= own;
  }
  double now = 0;
  double most = 0;
  for (const double one : change) most = std::max(most, now += one);
  return {all, most};
}

base::Result<int> execute_one(const Options& options) {
  const auto found = std::find_if(public_kernels().begin(), public_kernels().end(),
                                  [&](const PublicKernel& kernel) { return kernel.name == options.execute; });
  if (found == public_kernels().end()) usage();
  const fs::path file = options.kernel.empty() ? file_of(options, *found) : options.kernel;
  TRY_ASSIGN(const trainium::TracedPlan plan, traced(*found, file));
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i < plan.program.inputs.size(); ++i) {
    const fs::path path = options.folder / ("in" + std::to_string(i) + ".f32");
    TRY_ASSIGN(const std::string bytes, base::read_file(path));
    std::vector<float>& input = inputs.emplace_back(bytes.size() / sizeof(float));
    if (static_cast<std::int64_t>(input.size()) != plan.program.buffers[plan.program.inputs[i]].size())
      return base::fail(base::ErrorCode::invalid_argument, path.string() + ": not as large as the kernel's input");
    std::memcpy(input.data(), bytes.data(), input.size() * sizeof(float));
  }
  std::vector<float> output(static_cast<std::size_t>(plan.program.buffers[plan.program.outputs[0]].size()));
  const std::vector<std::span<const float>> given(inputs.begin(), inputs.end());
  const auto begin = Clock::now();
  TRY_ASSIGN(const std::string poisoned, trainium::execute(plan.program, given, {std::span<float>(output)}, {}));
  if (!poisoned.empty()) return base::fail(base::ErrorCode::invalid_argument, poisoned);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto [all, alive] = tiles_of(plan.program);
  std::printf("%s: executed in %.1f s; tiles %.0f MiB in all, %.0f alive at once; %.0f MiB resident at most\n",
              found->name.c_str(), seconds, all, alive, static_cast<double>(use.ru_maxrss) / 1024);
  const auto* const bytes = reinterpret_cast<const char*>(output.data());
  TRY(base::write_file(options.folder / "out.f32", {bytes, output.size() * sizeof(float)}));
  return 0;
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  using namespace accelopt::bench;
  const Options options = read_options(std::vector<std::string>(argv + 1, argv + argc));
  const auto status = options.tutorials         ? tutorials_alone(options)
                      : options.execute.empty() ? compare_all(options)
                                                : execute_one(options);
  if (status) return *status;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return 1;
}
