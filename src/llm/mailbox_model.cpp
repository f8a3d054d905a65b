// SPDX-License-Identifier: Apache-2.0
#include "llm/mailbox_model.hpp"

#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "llm/recording.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;

constexpr std::uintmax_t kLongestAnswerBytes = std::uintmax_t{32} << 20U;

std::string question_text(const ChatRequest& request, const std::string& answer_file) {
  std::string text = "A question of accelopt: " + request.label + "\n\nAnswer it in the file " + answer_file +
                     " in this folder. The file is the answer, word for word. Write it under another name first\n"
                     "and rename it when it is whole.\n";
  for (const Message& message : request.messages) {
    text += "\n======== " + std::string(base::name_in(kSpeakerNames, message.speaker)) + " ========\n\n" + message.text;
    if (!message.text.ends_with('\n')) text += '\n';
  }
  return text;
}

class MailboxModel final : public ChatModel {
 public:
  MailboxModel(MailboxOptions options, Clock& clock) : options_(std::move(options)), clock_(clock) {}

  base::Outcome<ChatReply> chat(const ChatRequest& request, std::stop_token stop) override {
    const std::string name = mailbox_name(request);
    const std::filesystem::path question = options_.folder / (name + ".question.md");
    const std::filesystem::path answer = options_.folder / (name + ".answer.md");
    std::error_code ignored;
    if (!std::filesystem::exists(question, ignored)) {
      TRY(base::write_file(question, question_text(request, answer.filename().string())));
    }
    return options_.unanswered == Unanswered::put_off ? look_once(answer) : wait_for(answer, stop);
  }

  [[nodiscard]] std::string name() const override { return options_.name; }

 private:
  /// None where there is no such file.
  static std::optional<std::uintmax_t> size_of(const std::filesystem::path& file) {
    std::error_code problem;
    const std::uintmax_t bytes = std::filesystem::file_size(file, problem);
    return problem ? std::nullopt : std::optional(bytes);
  }

  void say_blank(const std::filesystem::path& answer) const {
    if (options_.blank) options_.blank(answer);
  }

  base::Outcome<ChatReply> look_once(const std::filesystem::path& answer) const {
    if (size_of(answer)) {
      TRY_ASSIGN(auto reply, read(answer));
      if (reply) return std::move(*reply);
      say_blank(answer);
    }
    return base::put_off("the answer is not there yet: " + answer.string());
  }

  base::Outcome<ChatReply> wait_for(const std::filesystem::path& answer, const std::stop_token& stop) {
    std::optional<std::uintmax_t> seen_bytes;
    std::chrono::milliseconds blank_for{0};
    for (;;) {
      const auto bytes = size_of(answer);
      bool blank = bytes == std::uintmax_t{0};
      if (bytes && !blank && bytes == seen_bytes) {
        TRY_ASSIGN(auto reply, read(answer));
        if (reply) return std::move(*reply);
        blank = true;
      }
      if (stop.stop_requested())
        return base::fail(ErrorCode::cancelled, "stopped while waiting for " + answer.string());
      if (blank && blank_for < kBlankPatience) {
        blank_for += options_.look_every;
        if (blank_for >= kBlankPatience) say_blank(answer);
      }
      seen_bytes = bytes;
      clock_.wait(options_.look_every, stop);
    }
  }

  /// None where it holds nothing but white space: whoever answers has made the file and not filled it.
  base::Result<std::optional<ChatReply>> read(const std::filesystem::path& answer) const {
    if (size_of(answer).value_or(0) > kLongestAnswerBytes) {
      return base::fail(
          ErrorCode::unavailable,
          answer.string() + " is larger than " + std::to_string(kLongestAnswerBytes) + " bytes; an answer is one text");
    }
    TRY_ASSIGN(std::string text, base::read_file(answer));
    if (text.find_first_not_of(" \t\r\n\v\f") == std::string::npos) return std::nullopt;
    ChatReply reply;
    reply.model = options_.name;
    reply.usage.calls = 1;
    // As the journal keeps it: what a resumed run asks next repeats the answer, and is known by its bytes.
    reply.text = base::Json::parse(base::canonical(std::move(text))).get<std::string>();
    return reply;
  }

  MailboxOptions options_;
  Clock& clock_;
};

}  // namespace

std::string mailbox_name(const ChatRequest& request) {
  return file_name_of(request.label) + "-" + request_hash(request).substr(0, 12);
}

base::Result<std::unique_ptr<ChatModel>> make_mailbox_model(MailboxOptions options, Clock& clock) {
  if (auto made = base::make_folders(options.folder); !made) {
    return tl::make_unexpected(base::with_context(std::move(made).error(), "the mailbox"));
  }
  return std::make_unique<MailboxModel>(std::move(options), clock);
}

}  // namespace accelopt::llm
