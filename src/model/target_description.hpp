// SPDX-License-Identifier: Apache-2.0
// What the program knows of its targets and of the languages of their kernels. A target describes itself in a folder of
// its own, src/targets/<name>/description.cpp. Everybody else looks here what one can do, and never asks who it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/language.hpp"
#include "model/launch_limits.hpp"
#include "model/task.hpp"

namespace accelopt::model {

/// How a kernel's source says what is to be called.
enum class KernelForm {
  function,  ///< C or C++ with a function `kernel`; `//@` lines as parse_cpu_directives reads them
  launches,  ///< device code with functions that `//@ launch` lines name, as parse_device_directives reads them
  text,      ///< the whole file: there are no directives
  files,     ///< files of a repository, each by its path; answers edit them
};

struct LanguageDescription {
  Language language;
  KernelForm form = KernelForm::text;
  /// Begins the comment that holds the values which the kernel's text leaves to its target to find, "# tuned:";
  /// empty: all that is tuned stands in directives.
  std::string values_comment;
  bool c_tokens = false;              ///< comments and layout do not count for a source's id
  std::string title;                  ///< as people and prompts call it, "C++"
  std::string standard;               ///< "gnu++20"
  std::vector<std::string> suffixes;  ///< of its files; the first one is a baseline's; none: any file's

  // For prompts.
  std::string prompts;        ///< folder below prompts/; empty: no model is asked about it
  std::string fence;          ///< what a fence calls it
  std::string header_fence;   ///< the same of the generated header
  std::string header_begins;  ///< the task's own part of that header begins behind this text's last place; empty: all
  std::string allowed_flags;  ///< that `//@ flags` may name, as a list in words
  /// The fast memory of a partition of the device, "176 KiB", by the one line that describes the device; null: none.
  std::string (*scratchpad)(std::string_view device) = nullptr;
  std::string cold_caches;  ///< a sentence: what the caches hold before a timed call
  std::string warm_caches;
};

/// What the table that has a target's name may say in task.toml.
enum class TaskKey { threads, cache };

struct TargetDescription {
  std::string name;                             ///< as task.toml says it, "cpu"
  std::vector<LanguageDescription> languages;   ///< of kernels, the usual one first
  std::vector<std::string> reference_suffixes;  ///< of a task's reference, the usual one first
  std::vector<TaskKey> task_keys;               ///< in the order in which they are written; empty: it has no table
  /// Its tasks may have inout, ties, small_floats, and dtypes uint16 to uint64.
  bool takes_every_tensor = false;
  bool host_may_see_inputs = false;  ///< its tasks may have inputs that are `visible`
  std::string device;  ///< one that it measures on, "cuda:0"; empty: nothing is measured on it in this version
  std::vector<std::string> models{};  ///< devices that are modelled, "trn1:model"; empty: its devices are real
  std::string hardware{};             ///< kind of the real ones beside those, "neuron" of "neuron:0"; empty: none
  std::string devices;                ///< how all are named: "cuda:N for CUDA device N"
  std::string interpreter;            ///< a device that verifies its kernels and times nothing; empty: there is none
  bool own_memory = false;            ///< its device has memory of its own, where inputs and outputs lie
  /// A cache as large as many outputs: what a call wrote may still lie there when it ends.
  bool large_cache = false;
  bool profiles_on_demand = false;  ///< a profile takes seconds: opening a task leaves the baseline's to those who ask
  bool counts_time = false;         ///< a call takes the same time again: its evaluations' clock is kDeterministicClock
  LaunchLimits launch_limits;
  std::vector<std::string> taken_prefixes;  ///< of names that its headers use, which no tuned name may have
  std::vector<std::string> taken_names;
};

/// All targets of this program, in the order in which people read of them. Declared here so that no layer has to be
/// handed the list, and defined once a program: in src/targets/descriptions.cpp, or by a test for targets of its own.
std::span<const TargetDescription* const> targets();

/// None: there is no target of this name.
const TargetDescription* find_target(std::string_view name);
/// That measures on this device, "cpu", "cuda:1", "trn1:model" or "neuron:0"; none: no target does.
const TargetDescription* find_target_of_device(std::string_view device);
/// The task's target; one that is unknown can do nothing.
const TargetDescription& target_of(const Task& task);
/// How many cores its kernels run on, where the target's tasks have threads; else 1: a device as a whole.
int cores_of(const Task& task);
/// Whether something is measured on it in this version.
bool is_measured(const TargetDescription& target);
/// The kind of the device that the target names, "cuda" of "cuda:0"; of an unknown, unmeasured or modelled one its own
/// name.
std::string device_kind(std::string_view target);

/// As language_of_file, where two targets have languages of one suffix: that of this target.
base::Result<Language> language_of_file(std::string_view file_name, const TargetDescription& target);
/// An unknown language is a text that nobody is asked about.
const LanguageDescription& describe(Language language);

}  // namespace accelopt::model
