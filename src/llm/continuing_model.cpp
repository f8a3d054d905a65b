// SPDX-License-Identifier: Apache-2.0
#include "llm/continuing_model.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace accelopt::llm {
namespace {

constexpr const char* kGoOn =
    "Your answer was cut off at the limit of its length. Go on exactly where it stopped, with the very next "
    "character, in the middle of a line if need be: repeat nothing, explain nothing, and open no new code fence.";
/// An unfinished line of at least so many bytes that is said again at the start of the next part is taken for a
/// repetition; a shorter one may be meant twice.
constexpr std::size_t kLeastRepetition = 16;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Whether a code fence is open at the end of the text.
bool in_fence(std::string_view text) {
  bool open = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).starts_with("```")) open = !open;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return open;
}

/// Whether the server takes no such question (400, 413, 422): what there is has filled the context window, or the
/// doubled limit is too high. It would refuse that each time.
bool is_refusal(const base::NotDone& reason) {
  return reason.why == base::Why::failed && reason.code == base::ErrorCode::invalid_argument;
}

class ContinuingModel final : public ChatModel {
 public:
  ContinuingModel(ChatModel& model, ContinuePolicy policy) : model_(model), policy_(policy) {}

  base::Outcome<ChatReply> chat(const ChatRequest& request, std::stop_token stop) override {
    TRY_ASSIGN(ChatReply whole, model_.chat(request, stop));
    ChatRequest next = request;
    for (int part = 1; whole.finish == Finish::cut_by_length && part < policy_.most_parts; ++part) {
      next.label = request.label + " part" + std::to_string(part);
      next.messages = request.messages;
      if (is_blank(whole.text)) {
        const auto limit = next.max_output_tokens ? next.max_output_tokens : policy_.max_output_tokens;
        if (!limit || *limit >= policy_.most_output_tokens) return whole;
        next.max_output_tokens = std::min(*limit * 2, policy_.most_output_tokens);
        whole.text.clear();
      } else {
        next.messages.push_back({Speaker::assistant, whole.text});
        next.messages.push_back({Speaker::user, kGoOn});
      }
      const auto more = model_.chat(next, stop);
      if (!more) {
        if (is_refusal(more.error())) return whole;
        return tl::make_unexpected(more.error());
      }
      whole.text = join_parts(std::move(whole.text), more->text);
      whole.finish = more->finish;
      whole.usage += more->usage;
    }
    return whole;
  }

  [[nodiscard]] std::string name() const override { return model_.name(); }

 private:
  ChatModel& model_;
  ContinuePolicy policy_;
};

}  // namespace

std::string join_parts(std::string first, std::string_view rest) {
  if (first.empty()) return std::string(rest);
  if (rest.starts_with("```") && in_fence(first)) {
    const std::size_t end = rest.find('\n');
    const std::string_view fence = rest.substr(0, end);
    // "```cpp" opens one; "```" alone may close the one that is open.
    if (fence.size() > 3 && end != std::string_view::npos) rest.remove_prefix(end + 1);
  }
  const std::size_t line = first.find_last_of('\n') + 1;  // 0 where there is none
  const std::string_view unfinished = std::string_view(first).substr(line);
  if (unfinished.size() >= kLeastRepetition && !is_blank(unfinished) && rest.starts_with(unfinished)) {
    rest.remove_prefix(unfinished.size());
  }
  return std::move(first) + std::string(rest);
}

std::unique_ptr<ChatModel> make_continuing_model(ChatModel& model, ContinuePolicy policy) {
  return std::make_unique<ContinuingModel>(model, policy);
}

}  // namespace accelopt::llm
