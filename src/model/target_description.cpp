// SPDX-License-Identifier: Apache-2.0
#include "model/target_description.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace accelopt::model {

Language Language::of(std::string_view key) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> kept;  // few, and as long as the process
  const std::lock_guard lock(mutex);
  Language language;
  const auto found = kept.find(key);
  language.key_ = found != kept.end() ? *found : *kept.emplace(key).first;
  return language;
}

const TargetDescription* find_target(std::string_view name) {
  const auto all = targets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto* target) { return target->name == name; });
  return found == all.end() ? nullptr : *found;
}

const TargetDescription* find_target_of_device(std::string_view device) {
  const std::string_view kind = device.substr(0, device.find(':'));
  for (const TargetDescription* target : targets()) {
    const bool modelled = std::find(target->models.begin(), target->models.end(), device) != target->models.end();
    if (modelled || kind == target->name || (!target->hardware.empty() && kind == target->hardware)) return target;
  }
  return nullptr;
}

const TargetDescription& target_of(const Task& task) {
  static const TargetDescription unknown;
  const TargetDescription* const found = find_target(task.target);
  return found == nullptr ? unknown : *found;
}

int cores_of(const Task& task) {
  const std::vector<TaskKey>& keys = target_of(task).task_keys;
  return std::find(keys.begin(), keys.end(), TaskKey::threads) != keys.end() ? task.cpu.threads : 1;
}

bool is_measured(const TargetDescription& target) {
  return !target.device.empty();
}

std::string device_kind(std::string_view target) {
  const TargetDescription* const found = find_target(target);
  if (found == nullptr || !is_measured(*found) || !found->models.empty()) return std::string(target);
  return found->device.substr(0, found->device.find(':'));
}

const LanguageDescription& describe(Language language) {
  static const LanguageDescription unknown;
  for (const TargetDescription* target : targets()) {
    for (const LanguageDescription& known : target->languages) {
      if (known.language == language) return known;
    }
  }
  return unknown;
}

base::Result<Language> language_of_file(std::string_view file_name, const TargetDescription& target) {
  for (const LanguageDescription& language : target.languages) {
    for (const std::string& suffix : language.suffixes) {
      if (file_name.ends_with(suffix)) return language.language;
    }
  }
  return language_of_file(file_name);
}

base::Result<Language> language_of_file(std::string_view file_name) {
  std::vector<std::string> usual;
  for (const TargetDescription* target : targets()) {
    for (const LanguageDescription& language : target->languages) {
      for (const std::string& suffix : language.suffixes) {
        if (file_name.ends_with(suffix)) return language.language;
      }
      if (language.suffixes.empty()) continue;
      const std::string& first = language.suffixes.front();
      if (std::find(usual.begin(), usual.end(), first) == usual.end()) usual.push_back(first);
    }
  }
  std::string known;
  for (std::size_t i = 0; i < usual.size(); ++i) known += (i > 0 && i + 1 == usual.size() ? " or " : " ") + usual[i];
  return base::fail(base::ErrorCode::invalid_argument,
                    std::string(file_name) + ": cannot tell the language; name it" + known);
}

}  // namespace accelopt::model
