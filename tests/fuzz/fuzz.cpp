// SPDX-License-Identifier: Apache-2.0
// Readers of outside text against a corpus, and against what becomes of it by changes.
//   fuzz FIXTURES [--seconds N] [--seed N] [--keep FOLDER] [--list] [READER...]
// Reads every file of FIXTURES/fuzz/READER, and of FOLDER/READER what still reaches something new; then, until N
// seconds a reader are over (a third of them at least), what changes make of them. An input that came to a new outcome,
// or took a new branch where the build says so (coverage.hpp), is changed further, and written to FOLDER/READER at
// once. A crash, a reader that lets an exception out, what a sanitizer reports, and an input that takes 10 s of
// processor time end the program with the input in ./finding-READER.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#ifdef ACCELOPT_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

#include "base/files.hpp"
#include "base/hash.hpp"
#include "fuzz/coverage.hpp"
#include "fuzz/mutation.hpp"
#include "fuzz/readers.hpp"

namespace {

using accelopt::fuzz::Reader;
using Clock = std::chrono::steady_clock;

constexpr std::uintmax_t kMostCorpusBytes = 2 << 20;
constexpr int kMostInputSeconds = 10;  ///< of processor time
constexpr std::size_t kMostKept = 4096;

// What the signal handler writes.
std::string finding_path;
const std::string* in_hand = nullptr;

void keep_finding() {
  const int file = open(finding_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0 || in_hand == nullptr) return;
  for (std::size_t at = 0; at < in_hand->size();) {
    const ssize_t put = write(file, in_hand->data() + at, in_hand->size() - at);
    if (put <= 0) break;
    at += static_cast<std::size_t>(put);
  }
  close(file);
}

void on_signal(int signal) {
  keep_finding();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A sanitizer reports what the hardware traps by itself, and ends the program behind our back.
void watch_for_findings() {
  std::vector<int> signals = {SIGABRT, SIGVTALRM};
#ifdef ACCELOPT_SANITIZED
  __sanitizer_set_death_callback(keep_finding);
#else
  signals.insert(signals.end(), {SIGSEGV, SIGBUS, SIGFPE, SIGILL});
#endif
  for (const int signal : signals) std::signal(signal, on_signal);
}

/// What tells outcomes apart: their words. Numbers, and words that stand in the input, are the input's.
std::string kind_of(const std::string& outcome, const std::string& input) {
  std::string kind, word;
  for (const char one : outcome.substr(0, 2048) + " ") {
    if (std::isalpha(static_cast<unsigned char>(one)) != 0) {
      word += one;
    } else if (!word.empty()) {
      if (input.find(word) == std::string::npos) kind += word + " ";
      word.clear();
    }
  }
  return kind.substr(0, 160);
}

class Run {
 public:
  /// `kept`: folder of the inputs that were new, of earlier calls and of this one; empty: none is kept.
  Run(const Reader& reader, std::uint64_t seed, std::filesystem::path kept)
      : reader_(reader), random_(seed), kept_(std::move(kept)) {
    finding_path = "finding-" + reader.name;
  }

  void read_corpus(const std::filesystem::path& folder) {
    for (const auto& name : files_of(folder)) {
      auto input = accelopt::base::read_file(name);
      if (!input) continue;
      read_one(std::move(*input));
      pool_.push_back(last_);
    }
  }

  /// What earlier calls kept, as far as it reaches something new, in any order: half of the time at most.
  void read_kept(std::chrono::milliseconds time) {
    const auto end = begin_ + time / 2;
    auto names = files_of(kept_);
    std::shuffle(names.begin(), names.end(), random_);
    for (const auto& name : names) {
      if (Clock::now() >= end) return;
      auto input = accelopt::base::read_file(name);
      if (input && read_one(std::move(*input)) && pool_.size() < kMostKept) pool_.push_back(last_);
    }
  }

  void change_for(std::chrono::milliseconds time) {
    const auto end = std::max(begin_ + time, Clock::now() + time / 3);
    while (Clock::now() < end) {
      const bool is_new = read_one(accelopt::fuzz::mutated(pool_[random_() % pool_.size()], pool_, random_));
      if (!is_new || pool_.size() >= kMostKept) continue;
      pool_.push_back(last_);
      keep_last();
    }
  }

  /// Whether all that was new could be written.
  [[nodiscard]] bool kept_all() const { return kept_all_; }

  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outcomes() const { return kinds_.size(); }
  [[nodiscard]] bool has_corpus() const { return !pool_.empty(); }

 private:
  static std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> names;
    if (!std::filesystem::is_directory(folder)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    return names;
  }

  /// Named by its hash. At once, so that it outlives a finding.
  void keep_last() {
    if (kept_.empty()) return;
    const auto file = kept_ / accelopt::base::sha256_hex(last_).substr(0, 16);
    if (!accelopt::base::make_folders(kept_) || !accelopt::base::write_file(file, last_)) kept_all_ = false;
  }

  /// Whether no input before came to this outcome.
  bool read_one(std::string input) {
    last_ = std::move(input);
    in_hand = &last_;
    const itimerval limit{{0, 0}, {kMostInputSeconds, 0}};
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    accelopt::fuzz::begin_watching();
    const std::string outcome = reader_.read(last_);
    const bool new_branch = accelopt::fuzz::end_watching();
    in_hand = nullptr;
    ++inputs_;
    return kinds_.insert(kind_of(outcome, last_)).second || new_branch;
  }

  const Reader& reader_;
  std::mt19937_64 random_;
  std::vector<std::string> pool_;
  std::filesystem::path kept_;
  bool kept_all_ = true;
  Clock::time_point begin_ = Clock::now();
  std::set<std::string> kinds_;
  std::string last_;
  std::size_t inputs_ = 0;
};

struct Arguments {
  std::filesystem::path fixtures;
  std::filesystem::path keep;  ///< empty: nowhere
  bool list = false;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::set<std::string> only;
};

/// None: not understood.
bool read_arguments(const std::vector<std::string>& words, Arguments& arguments) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const bool has_value = at + 1 < words.size();
    if (words[at] == "--seconds" && has_value) {
      arguments.seconds = std::atof(words[++at].c_str());
    } else if (words[at] == "--seed" && has_value) {
      arguments.seed = std::strtoull(words[++at].c_str(), nullptr, 10);
    } else if (words[at] == "--keep" && has_value) {
      arguments.keep = words[++at];
    } else if (words[at] == "--list") {
      arguments.list = true;
    } else if (words[at].starts_with("-")) {
      return false;
    } else if (arguments.fixtures.empty()) {
      arguments.fixtures = words[at];
    } else {
      arguments.only.insert(words[at]);
    }
  }
  return std::filesystem::is_directory(arguments.fixtures / "fuzz");
}

std::uintmax_t bytes_below(const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments({argv + 1, argv + argc}, arguments)) {
    std::fputs("usage: fuzz FIXTURES [--seconds N] [--seed N] [--keep FOLDER] [--list] [READER...]\n", stderr);
    return 2;
  }
  const auto readers = accelopt::fuzz::readers(arguments.fixtures);
  if (arguments.list) {
    for (const Reader& reader : readers) std::printf("%s\n", reader.name.c_str());
    return 0;
  }
  watch_for_findings();
  const auto corpus = arguments.fixtures / "fuzz";
  bool good = true;
  for (const Reader& reader : readers) {
    if (!arguments.only.empty() && !arguments.only.contains(reader.name)) continue;
    const std::chrono::milliseconds time(static_cast<std::int64_t>(arguments.seconds * 1000));
    Run run(reader, arguments.seed, arguments.keep.empty() ? std::filesystem::path() : arguments.keep / reader.name);
    std::printf("%s: ", reader.name.c_str());
    std::fflush(stdout);
    run.read_corpus(corpus / reader.name);
    if (!run.has_corpus()) {
      std::printf("no corpus\n");
      good = false;
      continue;
    }
    run.read_kept(time);
    run.change_for(time);
    std::printf("%zu inputs, %zu outcomes", run.inputs(), run.outcomes());
    if (accelopt::fuzz::sees_branches()) std::printf(", %zu branches", accelopt::fuzz::branches_met());
    std::printf("\n");
    if (!run.kept_all()) {
      std::printf("%s: what was new could not all be written\n", reader.name.c_str());
      good = false;
    }
  }
  if (const auto bytes = bytes_below(corpus); bytes > kMostCorpusBytes) {
    std::printf("the corpus has %ju bytes, more than %ju\n", bytes, kMostCorpusBytes);
    good = false;
  }
  return good ? 0 : 1;
}
