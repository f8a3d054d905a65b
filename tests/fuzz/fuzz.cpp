// SPDX-License-Identifier: Apache-2.0
// Readers of outside text against a corpus, and against what becomes of it by changes.
//   fuzz CORPUS [--seconds N] [--seed N] [READER...]
// Reads every file of CORPUS/READER; then, for N seconds of each reader's share, what changes make of them. An input
// that came to a new outcome is changed further. A crash, a reader that lets an exception out, and an input that takes
// 10 s of processor time end the program with the input in ./finding-READER.
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

#include "base/files.hpp"
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
  Run(const Reader& reader, std::uint64_t seed) : reader_(reader), random_(seed) {
    finding_path = "finding-" + reader.name;
  }

  void read_corpus(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
      auto input = accelopt::base::read_file(name);
      if (!input) continue;
      read_one(std::move(*input));
      pool_.push_back(last_);
    }
  }

  void change_for(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) {
      const bool is_new = read_one(accelopt::fuzz::mutated(pool_[random_() % pool_.size()], pool_, random_));
      if (is_new && pool_.size() < kMostKept) pool_.push_back(last_);
    }
  }

  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outcomes() const { return kinds_.size(); }
  [[nodiscard]] bool has_corpus() const { return !pool_.empty(); }

 private:
  /// Whether no input before came to this outcome.
  bool read_one(std::string input) {
    last_ = std::move(input);
    in_hand = &last_;
    const itimerval limit{{0, 0}, {kMostInputSeconds, 0}};
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    const std::string outcome = reader_.read(last_);
    in_hand = nullptr;
    ++inputs_;
    return kinds_.insert(kind_of(outcome, last_)).second;
  }

  const Reader& reader_;
  std::mt19937_64 random_;
  std::vector<std::string> pool_;
  std::set<std::string> kinds_;
  std::string last_;
  std::size_t inputs_ = 0;
};

struct Arguments {
  std::filesystem::path corpus;
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
    } else if (words[at].starts_with("-")) {
      return false;
    } else if (arguments.corpus.empty()) {
      arguments.corpus = words[at];
    } else {
      arguments.only.insert(words[at]);
    }
  }
  return std::filesystem::is_directory(arguments.corpus);
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
    std::fputs("usage: fuzz CORPUS [--seconds N] [--seed N] [READER...]\n", stderr);
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM}) std::signal(signal, on_signal);
  bool good = true;
  for (const Reader& reader : accelopt::fuzz::readers()) {
    if (!arguments.only.empty() && !arguments.only.contains(reader.name)) continue;
    Run run(reader, arguments.seed);
    std::printf("%s: ", reader.name.c_str());
    std::fflush(stdout);
    run.read_corpus(arguments.corpus / reader.name);
    if (!run.has_corpus()) {
      std::printf("no corpus\n");
      good = false;
      continue;
    }
    run.change_for(std::chrono::milliseconds(static_cast<std::int64_t>(arguments.seconds * 1000)));
    std::printf("%zu inputs, %zu outcomes\n", run.inputs(), run.outcomes());
  }
  if (const auto bytes = bytes_below(arguments.corpus); bytes > kMostCorpusBytes) {
    std::printf("the corpus has %ju bytes, more than %ju\n", bytes, kMostCorpusBytes);
    good = false;
  }
  return good ? 0 : 1;
}
