// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/peaks.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/utc.hpp"
#include "evaluation/evaluator_json.hpp"

namespace accelopt::targets::cpu {
namespace {

using base::ErrorCode;
using evaluation::Peaks;

/// Fused multiply-adds on as many independent accumulators as hide their latency and fit the registers; then the best
/// of a triad and a sum over arrays that no cache holds, and over arrays that the last-level cache holds. Each is the
/// best of many runs. Prints a line a peak: "fma float32 256 <flop/s>", "memory <bytes/s>", "cache <bytes/s>".
constexpr const char* kProbe = R"(
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstddef>
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class T, int B = WIDTH> struct Vector { typedef T type __attribute__((vector_size(B))); };
template <class T> struct Vector<T, (int)sizeof(T)> { typedef T type; };
static float first(float v) { return v; }
static double first(double v) { return v; }
template <class V> static auto first(V v) -> decltype(v[0] + 0) { return v[0]; }

template <class T, int B> __attribute__((noinline)) double fma_run(long steps, T factor, T& out) {
  typedef typename Vector<T, B>::type V;
  V a0{}, a1{}, a2{}, a3{}, a4{}, a5{}, a6{}, a7{}, a8{}, a9{}, b = V{} + factor, c = V{} + (T)1e-3;
  const auto start = Clock::now();
  for (long i = 0; i < steps; ++i) {
    a0 = a0 * b + c; a1 = a1 * b + c; a2 = a2 * b + c; a3 = a3 * b + c; a4 = a4 * b + c;
    a5 = a5 * b + c; a6 = a6 * b + c; a7 = a7 * b + c; a8 = a8 * b + c; a9 = a9 * b + c;
    asm volatile("" : "+x"(a0), "+x"(a1), "+x"(a2), "+x"(a3), "+x"(a4), "+x"(a5), "+x"(a6), "+x"(a7), "+x"(a8), "+x"(a9));
  }
  const double seconds = since(start);
  const V sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9;
  out = first(sum);
  return 2.0 * 10 * (B / sizeof(T)) * (double)steps / seconds;
}

template <class T, int B> double fma_peak(double seconds, T factor) {
  double best = 0;
  T sink = 0;
  for (const auto start = Clock::now(); since(start) < seconds;) {
    const double rate = fma_run<T, B>(50000, factor, sink);
    if (rate > best) best = rate;
  }
  if (sink == (T)12345) std::puts("");
  return best;
}

__attribute__((noinline)) void triad(double* a, const double* b, const double* c, size_t n, double s) {
  for (size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
}
// Two places at a time: more streams for the machine to fetch ahead.
__attribute__((noinline)) void twin_triad(double* a, const double* b, const double* c, size_t n, double s) {
  typedef Vector<double>::type V;
  const size_t half = n / 2 / (WIDTH / sizeof(double));
  V *a0 = (V*)a, *a1 = a0 + half;
  const V *b0 = (const V*)b, *b1 = b0 + half, *c0 = (const V*)c, *c1 = c0 + half;
  for (size_t i = 0; i < half; ++i) { a0[i] = b0[i] + s * c0[i]; a1[i] = b1[i] + s * c1[i]; }
}
__attribute__((noinline)) double total(const double* b, size_t n) {
  typedef Vector<double>::type V;
  const size_t quarter = n / 4 / (WIDTH / sizeof(double));
  const V* v = (const V*)b;
  V s0{}, s1{}, s2{}, s3{};
  for (size_t i = 0; i < quarter; ++i) { s0 += v[i]; s1 += v[quarter + i]; s2 += v[2 * quarter + i]; s3 += v[3 * quarter + i]; }
  const V s = s0 + s1 + s2 + s3;
  return s[0];
}

double memory_peak(double seconds, size_t bytes, size_t piece) {
  const size_t n = bytes / sizeof(double);
  double* arrays[3];
  for (auto& array : arrays) {
    array = static_cast<double*>(aligned_alloc(4096, n * sizeof(double)));
    if (!array) return 0;
    for (size_t i = 0; i < n; ++i) array[i] = (double)(i & 7);
  }
  // Piece by piece through arrays that no cache holds: a piece is short enough that nobody interrupts the best of them.
  const size_t step = piece / sizeof(double);
  double best = 0, sink = 0;
  for (const auto start = Clock::now(); since(start) < seconds;) {
    for (size_t at = 0; at + step <= n; at += step) {
      const auto from = Clock::now();
      triad(arrays[0] + at, arrays[1] + at, arrays[2] + at, step, 1.5);
      const double rate = 3.0 * (double)piece / since(from);
      if (rate > best) best = rate;
    }
    for (size_t at = 0; at + step <= n; at += step) {
      const auto from = Clock::now();
      twin_triad(arrays[0] + at, arrays[1] + at, arrays[2] + at, step, 1.5);
      const double rate = 3.0 * (double)piece / since(from);
      if (rate > best) best = rate;
    }
    for (size_t at = 0; at + step <= n; at += step) {
      const auto from = Clock::now();
      sink += total(arrays[1] + at, step);
      const double rate = (double)piece / since(from);
      if (rate > best) best = rate;
    }
  }
  if (sink == 12345) std::puts("");
  return best;
}

template <class T, int B> void report(const char* name, double seconds, T factor) {
  std::printf("fma %s %d %.6e\n", name, 8 * B, fma_peak<T, B>(seconds, factor));
}
template <class T> void report_all(const char* name, T factor) {
  report<T, (int)sizeof(T)>(name, 0.1, factor);
  if (WIDTH > 16) report<T, 16>(name, 0.1, factor);
#if WIDTH > 32
  report<T, 32>(name, 0.1, factor);
#endif
  report<T, WIDTH>(name, 0.3, factor);
}

int main(int argc, char** argv) {
  const size_t bytes = argc > 1 ? strtoull(argv[1], nullptr, 10) : 64u << 20;
  const size_t cache = argc > 2 ? strtoull(argv[2], nullptr, 10) : 0;
  report_all<float>("float32", argc > 3 ? 1.5f : 0.999f);
  report_all<double>("float64", argc > 3 ? 1.5 : 0.999);
  std::printf("memory %.6e\n", memory_peak(0.5, bytes, (size_t)4 << 20));
  if (cache >= 3 << 20) std::printf("cache %.6e\n", memory_peak(0.2, cache / 3 & ~(size_t)4095, cache / 3 & ~(size_t)4095));
}
)";

std::filesystem::path file_in(const PeakCache& cache, const Compiler& compiler, const Machine& machine) {
  if (cache.folder.empty()) return {};
  return cache.folder /
         ("peaks-" + base::sha256_hex(machine.cpu_model + "\n" + compiler.name + kProbe).substr(0, 16) + ".json");
}

/// The probe's lines; a peak that is not among them stays 0. The peak of a dtype is that of its best width.
Peaks read_probe(const std::string& output) {
  Peaks peaks;
  std::istringstream lines(output);
  for (std::string word; lines >> word;) {
    evaluation::VectorPeak peak;
    if (word == "memory") {
      lines >> peaks.bytes_per_second;
    } else if (word == "cache") {
      lines >> peaks.last_level_bytes_per_second;
    } else if (word == "fma" && lines >> peak.dtype >> peak.bits >> peak.flops_per_second) {
      double& best = peak.dtype == "float32" ? peaks.flops_per_second : peaks.flops_per_second_float64;
      best = std::max(best, peak.flops_per_second);
      peaks.by_width.push_back(peak);
    }
  }
  return peaks;
}

base::Result<Peaks> run_probe(const Compiler& compiler, const Machine& machine, int core, const std::stop_token& stop) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-peaks"));
  TRY(base::write_file(folder.path() / "probe.cpp", kProbe));
  TRY_ASSIGN(const auto built,
             compile(compiler,
                     {folder.path(),
                      {"-O3", "-march=native", "-std=gnu++20", "-ffp-contract=fast", "-w", "probe.cpp", "-o", "probe"},
                      true,
                      {}},
                     nullptr, stop));
  if (!built.state.exited || built.state.code != 0) {
    return base::fail(ErrorCode::unsupported, "the probe of the machine's peaks does not build: " + built.output);
  }
  sandbox::SpawnOptions options;
  options.program = (folder.path() / "probe").string();
  // Each array alone is larger than the last cache; three of them stay modest.
  const std::int64_t bytes = std::clamp<std::int64_t>(2 * machine.last_level_bytes, 16LL << 20, 128LL << 20);
  // Half of the last-level cache, and only where that is well over what is nearer to the core.
  const std::int64_t held = machine.last_level_bytes / 2 > 2 * machine.l2_bytes ? machine.last_level_bytes / 2 : 0;
  options.arguments = {std::to_string(bytes), std::to_string(held)};
  options.cores = {core};
  options.own_namespaces = false;
  TRY_ASSIGN(const auto ran, sandbox::run(options, {}, nullptr, stop));
  Peaks peaks = read_probe(ran.output);
  if (peaks.flops_per_second <= 0 || peaks.flops_per_second_float64 <= 0 || peaks.bytes_per_second <= 0) {
    return base::fail(ErrorCode::unsupported, "the probe of the machine's peaks does not run: " + ran.output);
  }
  peaks.measured = base::utc("%Y-%m-%d");
  return peaks;
}

/// Keeping them is a convenience: a folder that cannot be written only costs the next run two seconds.
void store(const std::filesystem::path& file, const Machine& machine, const Peaks& peaks) {
  if (file.empty() || !base::make_folders(file.parent_path())) return;
  base::Json json = peaks;
  json["cpu_model"] = machine.cpu_model;
  std::ignore = base::write_file(file, base::canonical(json) + "\n").has_value();
}

base::Result<Peaks> stored(const std::filesystem::path& file) {
  TRY_ASSIGN(const std::string text, base::read_file(file));
  TRY_ASSIGN(const base::Json json, base::parse_json(text, file.string()));
  return base::decode<Peaks>(json, file.string());
}

}  // namespace

base::Result<Peaks> measure_peaks(const Compiler& compiler, const Machine& machine, int core, const PeakCache& cache,
                                  const std::stop_token& stop) {
  const std::filesystem::path file = file_in(cache, compiler, machine);
  if (!file.empty()) {
    if (auto found = stored(file); found && found->flops_per_second > 0 && found->bytes_per_second > 0) return found;
  }
  TRY_ASSIGN(const Peaks peaks, run_probe(compiler, machine, core, stop));
  store(file, machine, peaks);
  return peaks;
}

base::Result<Peaks> measure_peaks_again(const Compiler& compiler, const Machine& machine, int core,
                                        const PeakCache& cache, const Peaks& before, const std::stop_token& stop) {
  TRY_ASSIGN(Peaks peaks, run_probe(compiler, machine, core, stop));
  peaks.flops_per_second = std::max(peaks.flops_per_second, before.flops_per_second);
  peaks.flops_per_second_float64 = std::max(peaks.flops_per_second_float64, before.flops_per_second_float64);
  peaks.bytes_per_second = std::max(peaks.bytes_per_second, before.bytes_per_second);
  peaks.last_level_bytes_per_second = std::max(peaks.last_level_bytes_per_second, before.last_level_bytes_per_second);
  store(file_in(cache, compiler, machine), machine, peaks);
  return peaks;
}

}  // namespace accelopt::targets::cpu
