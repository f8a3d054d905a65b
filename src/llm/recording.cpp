// SPDX-License-Identifier: Apache-2.0
#include "llm/recording.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/schema.hpp"
#include "base/text.hpp"
#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using base::Json;

/// Of the files; raised when a field changes its meaning.
constexpr int kRecordingSchema = 1;
constexpr std::array<std::string_view, 3> kFinishes{"complete", "cut_by_length", "filtered"};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    lines.push_back(text.substr(0, end));
  }
  lines.push_back(text);
  return lines;
}

/// A text as a list of its lines, so that files can be read and compared.
Json text_json(std::string_view text) {
  Json lines = Json::array();
  for (const std::string_view line : lines_of(text)) lines.push_back(std::string(line));
  return lines;
}

std::string text_from(const Json& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? "" : "\n") + lines[i].get_ref<const std::string&>();
  }
  return text;
}

Json messages_json(const std::vector<Message>& messages) {
  Json out = Json::array();
  for (const Message& message : messages) {
    out.push_back({{"speaker", base::name_in(kSpeakerNames, message.speaker)}, {"text", text_json(message.text)}});
  }
  return out;
}

/// Failures that lose one question and not the run: a replay loses it as well.
constexpr std::array kLosses{ErrorCode::unavailable, ErrorCode::rate_limited, ErrorCode::timed_out};

bool is_lost(ErrorCode code) {
  return std::ranges::find(kLosses, code) != kLosses.end();
}

base::Error failure_from(const Json& failure) {
  const std::string& name = failure.at("code").get_ref<const std::string&>();
  const auto code = std::ranges::find_if(kLosses, [&name](ErrorCode known) { return base::to_string(known) == name; });
  return {code == kLosses.end() ? ErrorCode::unavailable : *code, failure.at("message").get<std::string>()};
}

std::string without_keys(std::string text, const std::vector<Secret>& keys) {
  for (const Secret& key : keys) text = blotted_in_code(std::move(text), key);
  return text;
}

class RecordingModel final : public ChatModel {
 public:
  RecordingModel(std::unique_ptr<ChatModel> model, std::filesystem::path folder, std::vector<Secret> keys)
      : model_(std::move(model)), folder_(std::move(folder)), keys_(std::move(keys)) {}

  base::Outcome<ChatReply> chat(const ChatRequest& request, std::stop_token stop) override {
    auto reply = model_->chat(request, std::move(stop));
    if (!reply && !is_lost(reply.error().code)) return reply;
    ChatRequest clean = request;
    for (Message& message : clean.messages) message.text = without_keys(std::move(message.text), keys_);
    const std::string hash = request_hash(clean);
    Json file = {{"schema", kRecordingSchema},
                 {"label", request.label},
                 {"request_hash", hash},
                 {"asked_of", model_->name()},
                 {"temperature", Json(request.temperature)},
                 {"max_output_tokens", Json(request.max_output_tokens)},
                 {"messages", messages_json(clean.messages)}};
    if (reply) {
      file["model"] = without_keys(reply->model, keys_);
      file["answer"] = text_json(without_keys(reply->text, keys_));
      file["finish"] = kFinishes.at(static_cast<std::size_t>(reply->finish));
      file["usage"] = reply->usage;
    } else {
      file["failure"] = {{"code", base::to_string(reply.error().code)},
                         {"message", without_keys(reply.error().message, keys_)}};
    }
    const std::filesystem::path path = folder_ / (file_name_of(request.label) + "-" + hash.substr(0, 12) + ".json");
    if (auto written = base::write_file(path, file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
        !written) {
      return tl::make_unexpected(base::with_context(std::move(written).error(), "recording an answer"));
    }
    return reply;
  }

  [[nodiscard]] std::string name() const override { return model_->name(); }

 private:
  std::unique_ptr<ChatModel> model_;
  std::filesystem::path folder_;
  std::vector<Secret> keys_;
};

class ReplayingModel final : public ChatModel {
 public:
  ReplayingModel(std::shared_ptr<const Recording> recording, const std::string& role)
      : recording_(std::move(recording)), name_(recording_->model_of(role)) {}

  base::Outcome<ChatReply> chat(const ChatRequest& request, std::stop_token stop) override {
    if (stop.stop_requested()) return base::fail(ErrorCode::cancelled, "stopped");
    return recording_->find(request);
  }
  [[nodiscard]] std::string name() const override { return name_; }

 private:
  std::shared_ptr<const Recording> recording_;
  std::string name_;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What stands before the name of a family of inputs where a kernel's failure is told.
constexpr std::string_view kFamily = "(family ";
/// What follows a machine's name where a repository's code is measured: another machine has another name.
constexpr std::string_view kMachine = "; each run is a process of its own";

/// Length of the number at the start of the text, with its unit; 0 where there is none.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == 0) return 0;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    for (++at; at < text.size() && is_digit(text[at]);) ++at;
  }
  if (at + 2 < text.size() && text[at] == 'e' && (text[at + 1] == '+' || text[at + 1] == '-')) {
    std::size_t exponent = at + 2;
    while (exponent < text.size() && is_digit(text[exponent])) ++exponent;
    if (exponent > at + 2) at = exponent;
  }
  for (const std::string_view unit : {" ns", " us", " ms", " s", "x", " %", "%"}) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(unit) && (rest.size() == unit.size() || !base::is_word(rest[unit.size()])))
      return at + unit.size();
  }
  return at;
}

/// A line of a text as it is compared.
struct ComparedLine {
  std::string text;
  std::size_t number = 0;  ///< in the text as it is, from 0
};

/// Of a profile: "- NAME = NUMBER UNIT: MEANING", or "- PART: NAME = NUMBER UNIT". Which there are depends on what the
/// machine lets be counted. So do the figures of a plan that made no difference, one line, and what a model of a device
/// remarks, of which older recordings have other workloads, without their names.
bool is_profile_item(std::string_view line) {
  if (line.starts_with("|   figures: ") || line.starts_with("| modelled: ") || line.starts_with("| modelled, "))
    return true;
  constexpr std::string_view kIs = " = ";
  const std::size_t is = line.find(kIs);
  if (!line.starts_with("- ") || is == std::string_view::npos) return false;
  std::string_view rest = line.substr(is + kIs.size());
  if (rest.starts_with('-')) rest.remove_prefix(1);
  const std::size_t digits = number_length(rest);
  if (digits == 0) return false;
  const bool has_unit = !is_digit(rest[digits - 1]);
  rest.remove_prefix(digits);
  // The same figure of another size, whose meaning stands further up. Short times are not told, so there may be fewer.
  if (rest.empty()) return has_unit && line.substr(0, is).find(": ") != line.npos;
  const std::size_t meaning = rest.find(": ");
  return meaning != std::string_view::npos && rest.substr(0, meaning).find_first_of(",=") == std::string_view::npos;
}

/// The line with every measured number as "#".
std::string hidden_numbers(std::string_view line) {
  std::string out;
  if (const std::size_t name = line.find(kMachine); name != line.npos) {
    out = '#';
    line.remove_prefix(name);
  }
  for (char before = ' '; !line.empty();) {
    // Which inputs showed that a kernel is wrong is chosen at random.
    if (line.starts_with(kFamily)) {
      out += kFamily;
      out += '#';
      line.remove_prefix(std::min(line.find(')'), line.size()));
      before = '#';
      continue;
    }
    // Digits inside of a name belong to it.
    const std::size_t sign = line.front() == '-' ? 1 : 0;
    const std::size_t digits = base::is_word(before) ? 0 : number_length(line.substr(sign));
    const std::size_t length = digits > 0 ? sign + digits : 0;
    if (length > 0) {
      out += '#';
      before = '#';
      line.remove_prefix(length);
      continue;
    }
    before = line.front();
    out += before;
    line.remove_prefix(1);
  }
  return out;
}

/// The text with every measured number as "#": outside of fenced blocks, and in lines with //@ tune, a number with what
/// follows it of ns, us, ms, s, x and %, and the family of inputs that showed a failure; a profile's items and the
/// figures of a plan that made no difference are left out; so is the name of the machine that runs a repository's code.
/// What is left is the same whenever the same question is asked about other measurements.
std::vector<ComparedLine> compared_lines(std::string_view text) {
  std::vector<ComparedLine> result;
  bool fenced = false;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("```")) fenced = !fenced;
    // Of a tuned kernel the machine that measured chose the values.
    if (fenced && line.find("//@ tune ") == std::string_view::npos) {
      result.push_back({std::string(line), number});
    } else if (!is_profile_item(line)) {
      result.push_back({hidden_numbers(line), number});
    }
    ++number;
  }
  return result;
}

/// Where two prompts part, from 0.
struct Parting {
  std::size_t message = 0;
  std::size_t line_recorded = 0;
  std::size_t line_asked = 0;
};

/// The first place where the prompts differ but for what was measured; none when there is none.
std::optional<Parting> parting_of(const std::vector<Message>& recorded, const std::vector<Message>& asked) {
  const std::size_t common = std::min(recorded.size(), asked.size());
  constexpr std::size_t kEnded = std::numeric_limits<std::size_t>::max();
  for (std::size_t message = 0; message < common; ++message) {
    if (recorded[message].speaker != asked[message].speaker) return Parting{message, 0, 0};
    const std::vector<ComparedLine> a = compared_lines(recorded[message].text);
    const std::vector<ComparedLine> b = compared_lines(asked[message].text);
    const auto [in_a, in_b] = std::ranges::mismatch(a, b, {}, &ComparedLine::text, &ComparedLine::text);
    if (in_a == a.end() && in_b == b.end()) continue;
    return Parting{message, in_a == a.end() ? kEnded : in_a->number, in_b == b.end() ? kEnded : in_b->number};
  }
  if (recorded.size() == asked.size()) return std::nullopt;
  return Parting{common, 0, 0};
}

}  // namespace

std::string request_hash(const ChatRequest& request) {
  Json messages = Json::array();
  for (const Message& message : request.messages)
    messages.push_back({base::name_in(kSpeakerNames, message.speaker), message.text});
  return base::sha256_hex(base::canonical(messages));
}

std::string file_name_of(std::string_view label) {
  std::string name(label.substr(0, 120));
  std::ranges::replace_if(
      name, [](char c) { return !base::is_word(c) && c != '.' && c != '-'; }, '-');
  return name;
}

base::Result<Recording> Recording::load(const std::filesystem::path& folder) {
  Recording recording;
  recording.folder_ = folder;
  std::error_code problem;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (entry->path().extension() == ".json" && entry->path().filename() != kRecordedRunFile)
      files.push_back(entry->path());
  }
  if (problem) {
    return base::fail(ErrorCode::not_found, folder.string() + " cannot be read as a folder of recorded answers: " +
                                                problem.message() + "; name one that run --record wrote");
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    TRY_ASSIGN(const std::string text, base::read_file(file));
    const Json value = base::json_or_discarded(text);
    TRY(base::check_schema(value, kRecordingSchema, file.string()));
    try {
      Answer answer;
      answer.file = file.filename().string();
      value.at("request_hash").get_to(answer.hash);
      for (const Json& message : value.at("messages")) {
        answer.messages.push_back(
            {base::value_in(kSpeakerNames, message.at("speaker").get_ref<const std::string&>()).value_or(Speaker::user),
             text_from(message.at("text"))});
      }
      if (const auto failure = value.find("failure"); failure != value.end()) {
        answer.failure = failure_from(*failure);
        recording.by_label_[value.at("label").get<std::string>()].push_back(std::move(answer));
        ++recording.size_;
        continue;
      }
      answer.reply.text = text_from(value.at("answer"));
      value.at("model").get_to(answer.reply.model);
      const auto finish =
          std::ranges::find(kFinishes, std::string_view(value.at("finish").get_ref<const std::string&>()));
      answer.reply.finish =
          finish == kFinishes.end() ? Finish::complete : static_cast<Finish>(finish - kFinishes.begin());
      value.at("usage").get_to(answer.reply.usage);
      recording.by_label_[value.at("label").get<std::string>()].push_back(std::move(answer));
      ++recording.size_;
    } catch (const Json::exception& wrong) {
      return base::fail(ErrorCode::corrupt, file.string() + " cannot be read as a recorded answer: " + wrong.what() +
                                                "; take it out of the folder, or record again");
    }
  }
  if (recording.size_ == 0) {
    return base::fail(ErrorCode::not_found, folder.string() +
                                                " holds no recorded answers; name a folder that "
                                                "run --record wrote");
  }
  return recording;
}

base::Result<ChatReply> Recording::outcome_of(const Answer& answer) {
  if (answer.failure) return tl::make_unexpected(*answer.failure);
  return answer.reply;
}

base::Result<ChatReply> Recording::find(const ChatRequest& request) const {
  const auto found = by_label_.find(request.label);
  if (found == by_label_.end()) {
    return base::fail(ErrorCode::invalid_argument,
                      "no answer to \"" + request.label + "\" is recorded in " + folder_.string() +
                          ": no question of that name was asked then; replay with the settings of the recorded run, or "
                          "ask a model");
  }
  const std::string hash = request_hash(request);
  const std::vector<Answer>& answers = found->second;
  if (const auto same = std::ranges::find(answers, hash, &Answer::hash); same != answers.end()) {
    return outcome_of(*same);
  }
  for (const Answer& answer : answers) {
    if (!parting_of(answer.messages, request.messages)) return outcome_of(answer);
  }
  return base::fail(ErrorCode::invalid_argument, difference(answers, request));
}

std::string Recording::difference(const std::vector<Answer>& answers, const ChatRequest& request) const {
  const Answer* nearest = nullptr;
  Parting latest;
  for (const Answer& answer : answers) {
    const auto parting = parting_of(answer.messages, request.messages);
    if (!parting) continue;
    if (nearest != nullptr &&
        std::pair(parting->message, parting->line_recorded) <= std::pair(latest.message, latest.line_recorded))
      continue;
    nearest = &answer;
    latest = *parting;
  }
  if (nearest == nullptr) return "no answer to \"" + request.label + "\" is recorded";
  // Shown as they are, numbers included.
  const auto line_in = [&](const std::vector<Message>& messages, std::size_t line) -> std::string {
    if (latest.message >= messages.size()) return "(no such message)";
    const auto lines = lines_of(messages[latest.message].text);
    return line < lines.size() ? quoted(lines[line], Secret()) : "(the text has ended)";
  };
  const std::size_t line = std::min(latest.line_recorded, latest.line_asked);
  const std::vector<Message>& named = latest.message < request.messages.size() ? request.messages : nearest->messages;
  return "the prompt of \"" + request.label + "\" differs from the recorded one in " +
         (folder_ / nearest->file).string() + ", message " + std::to_string(latest.message + 1) + " (" +
         std::string(base::name_in(kSpeakerNames, named[latest.message].speaker)) + "), line " +
         std::to_string(line + 1) + "\n  recorded: " + line_in(nearest->messages, latest.line_recorded) +
         "\n  asked:    " + line_in(request.messages, latest.line_asked);
}

std::string Recording::model_of(std::string_view role) const {
  std::string anybody = "recorded";
  const std::string prefix = std::string(role) + " ";
  for (const auto& [label, answers] : by_label_) {
    for (const Answer& answer : answers) {
      if (answer.reply.model.empty()) continue;  // it failed
      if (label.starts_with(prefix)) return answer.reply.model;
      anybody = answer.reply.model;
    }
  }
  return anybody;
}

std::unique_ptr<ChatModel> make_recording_model(std::unique_ptr<ChatModel> model, std::filesystem::path folder,
                                                std::vector<Secret> keys) {
  return std::make_unique<RecordingModel>(std::move(model), std::move(folder), std::move(keys));
}

std::unique_ptr<ChatModel> make_replaying_model(std::shared_ptr<const Recording> recording, const std::string& role) {
  return std::make_unique<ReplayingModel>(std::move(recording), role);
}

}  // namespace accelopt::llm
