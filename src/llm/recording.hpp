// SPDX-License-Identifier: Apache-2.0
// Answers of models in a folder, one readable JSON file each: kept while a run asks, and served to a later run instead
// of asking.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "llm/chat_model.hpp"
#include "llm/secret.hpp"

namespace accelopt::llm {

/// In a folder of recorded answers, the file that says what they share; written and read by whoever runs.
inline constexpr const char* kRecordedRunFile = "run.json";

/// The hash of what is asked: the messages, whoever answers.
std::string request_hash(const ChatRequest& request);

/// The label as a part of a file's name: "planner-i0.b0.p1-try0".
std::string file_name_of(std::string_view label);

/// Writes every answer of `model` to FOLDER/LABEL-HASH.json before it passes it on, and in place of an answer that
/// could not be had (unavailable, rate_limited, timed_out) the failure. The given keys are blotted out wherever they
/// stand. The folder must exist. @error those of the model; permission_denied, exhausted, io: the file cannot be
/// written.
std::unique_ptr<ChatModel> make_recording_model(std::unique_ptr<ChatModel> model, std::filesystem::path folder,
                                                std::vector<Secret> keys);

/// The answers of a folder, all read at once.
class Recording {
 public:
  /// @error not_found: there is no such folder, or no answer in it; corrupt: a file cannot be read as an answer.
  static base::Result<Recording> load(const std::filesystem::path& folder);

  /// The answer to this question: same label, same messages; else the same but for numbers that were measured.
  /// @error invalid_argument: none; the message says which prompt differed and where. The failure that was recorded in
  /// place of an answer.
  base::Result<ChatReply> find(const ChatRequest& request) const;

  /// Who answered the questions of a role, or of anybody where the role has none.
  [[nodiscard]] std::string model_of(std::string_view role) const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Answer {
    std::string file;
    std::string hash;
    std::vector<Message> messages;
    ChatReply reply;
    std::optional<base::Error> failure{};  ///< in place of a reply
  };
  static base::Result<ChatReply> outcome_of(const Answer& answer);
  [[nodiscard]] std::string difference(const std::vector<Answer>& answers, const ChatRequest& request) const;

  std::filesystem::path folder_;
  std::map<std::string, std::vector<Answer>, std::less<>> by_label_;
  std::size_t size_ = 0;
};

/// A model that gives the recording's answers; `role`: whose name it goes by.
std::unique_ptr<ChatModel> make_replaying_model(std::shared_ptr<const Recording> recording, const std::string& role);

}  // namespace accelopt::llm
