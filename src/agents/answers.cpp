// SPDX-License-Identifier: Apache-2.0
#include "agents/answers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "agents/answer_text.hpp"
#include "agents/quote.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace accelopt::agents {
namespace {

using base::Json;

constexpr std::size_t kLessonBytes = 2'000;
constexpr std::string_view kBlank = " \t\r\n";

using base::lower;
using base::trimmed;

tl::unexpected<std::string> refuse(std::string reason) {
  return tl::make_unexpected(std::move(reason));
}

/// What stands behind "name:" when the line begins so, marks of emphasis, headings and the number of
/// a list aside.
std::optional<std::string_view> field(std::string_view line, std::string_view name) {
  constexpr std::string_view kMarks = " \t#*_>-`";
  const auto skip = [&line](std::string_view marks) {
    line.remove_prefix(std::min(line.find_first_not_of(marks), line.size()));
  };
  skip(kMarks);
  const std::size_t number = std::min(line.find_first_not_of("0123456789"), line.size());
  if (number > 0 && number < line.size() && (line[number] == '.' || line[number] == ')')) {  // of a list
    line.remove_prefix(number + 1);
    skip(kMarks);
  }
  if (lower(line.substr(0, name.size())) != name) return std::nullopt;
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of(" \t*_`"), line.size()));
  if (!line.starts_with(':')) return std::nullopt;
  line.remove_prefix(1);
  constexpr std::string_view kAround = " \t*_`\"";
  const std::size_t first = line.find_first_not_of(kAround);
  if (first == std::string_view::npos) return std::string_view{};
  return line.substr(first, line.find_last_not_of(kAround) - first + 1);
}

/// The JSON object that begins at `text[0]` == '{': up to its closing brace, braces in strings aside; empty if it has
/// none.
std::string_view object_at(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return text.substr(0, i + 1);
    }
  }
  return {};
}

/// An object with a "title", or a text that looks like one.
struct LessonText {
  std::string_view text;  ///< where it stands, with what is around it
  Json object;            ///< discarded: it cannot be read
  std::string problem;    ///< why it cannot
};

/// The value if it has a "title", else those inside it.
void add_titled(const Json& value, std::string_view text, std::vector<LessonText>& found) {
  if (value.is_object() && value.contains("title")) {
    found.push_back({text, value, {}});
  } else if (value.is_structured()) {
    for (const Json& inner : value) add_titled(inner, text, found);
  }
}

/// The object that begins at `text[0]`. @error a reason.
Parsed<Json> object_from(std::string_view text, std::string_view object) {
  const std::string begin = clean_line(text.substr(0, 80), 40);
  if (object.empty()) return refuse(begin + ": this is no JSON object, its closing brace is missing");
  auto value = base::parse_json(with_escapes(object), begin);
  if (!value) return refuse(clean_line(value.error().message, 300));
  return std::move(*value);
}

/// The JSON objects in the text that have a "title", within others too, and what looks like one and cannot be read.
std::vector<LessonText> lesson_texts(std::string_view text) {
  constexpr int kMostLooks = 200;  // each may read to the end of the text
  std::vector<LessonText> found;
  int looks = 0;
  for (std::size_t at = 0; looks < kMostLooks && (at = text.find('{', at)) != std::string_view::npos;) {
    const std::size_t next = text.find_first_not_of(kBlank, at + 1);
    if (next == std::string_view::npos || text[next] != '"') {  // code, not an object with members
      ++at;
      continue;
    }
    ++looks;
    const std::string_view object = object_at(text.substr(at));
    const std::string_view whole = object.empty() ? text.substr(at) : object;
    const auto value = object_from(whole, object);
    at += value ? object.size() : 1;
    if (value)
      add_titled(*value, whole, found);
    else if (whole.find("\"title\"") != std::string_view::npos)
      found.push_back({whole, Json(Json::value_t::discarded), value.error()});
  }
  // Around something else that was found it is no lesson, but what the lessons stand in.
  const auto is_around = [&](const LessonText& it) {
    return it.object.is_discarded() && std::ranges::any_of(found, [&](const LessonText& other) {
             const auto inner = other.text.data() - it.text.data();
             return inner > 0 && static_cast<std::size_t>(inner) < it.text.size();
           });
  };
  std::vector<LessonText> lessons;
  std::ranges::copy_if(found, std::back_inserter(lessons), [&](const LessonText& it) { return !is_around(it); });
  return lessons;
}

/// A text, or a list of lines. @error a reason.
Parsed<std::string> text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return refuse(std::string("the JSON object has no \"") + key + "\"");
  if (found->is_string()) return clean(found->get_ref<const std::string&>(), kLessonBytes);
  std::string joined;
  if (found->is_array()) {
    for (const Json& line : *found) {
      if (!line.is_string()) return refuse(std::string("\"") + key + "\" is not a text");
      joined += (joined.empty() ? "" : "\n") + line.get_ref<const std::string&>();
    }
    return clean(joined, kLessonBytes);
  }
  return refuse(std::string("\"") + key + "\" is not a text");
}

/// Whether a line says it, of all changes or of one ("Change 2: no optimization").
bool says_no_optimization(std::string_view text) {
  return std::ranges::any_of(lines_of(text), [](std::string_view line) {
    std::string letters;
    for (const char c : line) {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0)
        letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return letters == "nooptimization" || letters == "changenooptimization";
  });
}

/// The ids that a "Rests on:" line names, as far as they were shown, each once.
std::vector<std::string> rests_on(std::string_view value, const std::vector<model::Experience>& shown) {
  std::vector<std::string> ids;
  const auto is_id = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  for (std::size_t at = 0; at < value.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if_not(value.begin() + static_cast<std::ptrdiff_t>(at), value.end(), is_id) - value.begin());
    std::string id(value.substr(at, end - at));
    while (id.ends_with('.')) id.pop_back();
    const bool known = std::ranges::find(shown, id, &model::Experience::id) != shown.end();
    if (known && std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
    at = std::max(end, at + 1);
  }
  return ids;
}

/// Where the plan begins: the line of its title, and of "Rests on:" where it has one.
struct PlanHead {
  std::size_t title = 0;
  std::optional<std::size_t> rests_on;
};

/// The line "Rests on:" behind a plan's title, blank lines aside.
std::optional<std::size_t> rests_on_line(std::span<const std::string_view> lines, std::size_t title) {
  std::size_t next = title + 1;
  while (next < lines.size() && trimmed(lines[next]).empty()) ++next;
  const bool rests = next < lines.size() && field(lines[next], "rests on").has_value();
  return rests ? std::optional(next) : std::nullopt;
}

std::optional<PlanHead> find_head(std::span<const std::string_view> lines) {
  std::optional<PlanHead> head;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!field(lines[i], "title")) continue;
    const auto rests_on = rests_on_line(lines, i);
    if (rests_on || !head) head = PlanHead{i, rests_on};
  }
  return head;
}

}  // namespace

Parsed<model::Plan> parse_plan(std::string_view text, const std::vector<model::Experience>& shown) {
  const std::string answer = without_thoughts(text);
  const std::vector<std::string_view> lines = lines_of(answer);
  const auto head = find_head(lines);
  if (!head) return refuse("it has no line that begins with \"Title:\"");
  model::Plan plan;
  plan.title = clean_line(*field(lines[head->title], "title"), kTitleBytes);
  if (plan.title.empty()) return refuse("its title is empty");
  if (head->rests_on) plan.rests_on = rests_on(*field(lines[*head->rests_on], "rests on"), shown);
  std::string body;
  for (std::size_t i = head->rests_on.value_or(head->title) + 1; i < lines.size(); ++i)
    body += std::string(lines[i]) + "\n";
  std::string_view rest = trimmed(body);
  if (head->title > 0 && fence_line(lines[head->title - 1])) {  // the whole plan stands in a fence
    const std::size_t last = rest.rfind('\n');
    if (last != std::string_view::npos && fence_line(rest.substr(last + 1))) rest = trimmed(rest.substr(0, last));
  }
  plan.text = clean(rest, kPlanBytes);
  if (trimmed(plan.text).empty()) return refuse("there is no plan after the title");
  return plan;
}

namespace {

/// What a model puts between plans: rules, and headings such as "Plan 2".
bool is_between_plans(std::string_view line) {
  line = trimmed(line);
  const bool rule = line.find_first_not_of("-*_=# ") == std::string_view::npos;
  std::string words = lower(line.substr(std::min(line.find_first_not_of("#* "), line.size())));
  if (!words.starts_with("plan")) return rule;
  words.erase(0, 4);
  return words.find_first_not_of(" 0123456789.:*#") == std::string::npos;
}

/// Lines `first` to `end` as a text, without what stands between plans at its end.
std::string plan_part(std::span<const std::string_view> lines) {
  while (!lines.empty() && is_between_plans(lines.back())) lines = lines.first(lines.size() - 1);
  std::string text;
  for (const std::string_view line : lines) text += std::string(line) + "\n";
  return text;
}

/// The lines with the titles of plans: those that a "Rests on:" follows or that begin a paragraph; where no plan says
/// what it rests on, every line with a title.
std::vector<std::size_t> plan_heads(std::span<const std::string_view> lines) {
  const bool bare = std::ranges::none_of(lines, [](auto line) { return field(line, "rests on").has_value(); });
  std::vector<std::size_t> heads;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!field(lines[i], "title")) continue;
    const bool begins = i == 0 || is_between_plans(lines[i - 1]) || fence_line(lines[i - 1]);
    if (bare || begins || rests_on_line(lines, i)) heads.push_back(i);
  }
  return heads;
}

}  // namespace

Parsed<Parts<model::Plan>> parse_plans(std::string_view text, const std::vector<model::Experience>& shown, int most) {
  const std::string answer = without_thoughts(text);
  const std::vector<std::string_view> lines = lines_of(answer);
  const std::vector<std::size_t> heads = most > 1 ? plan_heads(lines) : std::vector<std::size_t>();
  Parts<model::Plan> plans;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::size_t end = i + 1 < heads.size() ? heads[i + 1] : lines.size();
    auto plan = parse_plan(plan_part(std::span(lines).subspan(heads[i], end - heads[i])), shown);
    if (!plan) {
      plans.fault = plan.error();
      continue;
    }
    const auto same =
        std::ranges::find_if(plans, [&](const model::Plan& other) { return lower(other.title) == lower(plan->title); });
    if (same != plans.end()) {
      plans.fault = "two plans have the title \"" + plan->title + "\"";
      *same = std::move(*plan);
    } else {
      plans.push_back(std::move(*plan));
    }
  }
  const auto wanted = static_cast<std::size_t>(most);
  if (plans.empty()) {
    if (!plans.fault.empty()) return refuse(plans.fault);
    TRY_ASSIGN(model::Plan plan, parse_plan(text, shown));
    plans.push_back(std::move(plan));
  } else if (plans.size() >= wanted) {
    plans.resize(wanted);
    plans.fault.clear();
  } else if (!plans.fault.empty()) {
    plans.fault = fmt::format("only {} of the {} plans can be used: {}", plans.size(), most, plans.fault);
  }
  return plans;
}

std::string title_before_file(std::string_view text) {
  const std::string answer = without_thoughts(text);
  for (const std::string_view line : lines_of(answer)) {
    if (fence_line(line) || line.starts_with("<<<<<<<")) break;
    if (const auto title = field(line, "title")) return clean_line(*title, kTitleBytes);
  }
  return {};
}

namespace {

Parsed<Lesson> lesson_from(const Json& object) {
  Lesson lesson;
  for (const auto& [key, target] : {std::pair{"title", &lesson.title}, std::pair{"strategy", &lesson.strategy},
                                    std::pair{"before", &lesson.before}, std::pair{"after", &lesson.after}}) {
    TRY_ASSIGN(*target, text_member(object, key));
  }
  lesson.title = clean_line(lesson.title, kTitleBytes);
  if (lesson.title.empty()) return refuse("its \"title\" is empty");
  if (trimmed(lesson.strategy).empty()) return refuse("its \"strategy\" is empty");
  return lesson;
}

/// The first whole number in a text, if there is one.
std::optional<std::uint64_t> number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() ? std::optional(number) : std::nullopt;
}

/// The number of the change that the lesson is about, as far as it says.
std::optional<std::uint64_t> change_of(const LessonText& lesson) {
  if (lesson.object.is_discarded()) {
    constexpr std::string_view kKey = "\"change\"";
    const std::size_t at = lesson.text.find(kKey);
    return at == std::string_view::npos ? std::nullopt : number_in(lesson.text.substr(at + kKey.size(), 10));
  }
  const auto found = lesson.object.find("change");
  if (found == lesson.object.end()) return std::nullopt;
  if (found->is_string()) return number_in(found->get_ref<const std::string&>());
  const double number = found->is_number() ? found->get<double>() : -1;
  constexpr double kMost = 1e9;
  if (number < 0 || number > kMost || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

/// What an answer says of each change, and what is wrong with it.
struct ReadLessons {
  std::vector<std::optional<Parsed<Lesson>>> changes;
  std::string unplaced;  ///< why a lesson belongs to no change; the first one
};

/// @error a reason: the numbers cannot be trusted.
Parsed<ReadLessons> read_lessons(std::string_view text, std::size_t changes) {
  ReadLessons read{std::vector<std::optional<Parsed<Lesson>>>(changes), {}};
  std::optional<std::uint64_t> twice;
  for (const LessonText& found : lesson_texts(text)) {
    Parsed<Lesson> lesson = found.object.is_discarded() ? refuse(found.problem) : lesson_from(found.object);
    auto number = change_of(found);
    if (!number && changes == 1) number = 1;
    if (!number) {
      if (read.unplaced.empty() && found.object.is_discarded()) read.unplaced = found.problem;
      if (read.unplaced.empty())
        read.unplaced =
            fmt::format("an object without \"change\" does not say which of the {} changes it is about", changes);
      continue;
    }
    if (*number < 1 || *number > changes) {
      std::string stray = fmt::format(
          "\"change\": {} does not say which of the {} changes an object is about; their numbers begin at 1", *number,
          changes);
      if (*number < 1) return refuse(std::move(stray));  // all of them may begin at 0
      read.unplaced = std::move(stray);
      continue;
    }
    auto& known = read.changes[*number - 1];
    const bool is_known = known && known->has_value();
    if (is_known && !lesson) continue;
    if (is_known && (*known)->title != lesson->title) twice = number;
    known = std::move(lesson);
  }
  const bool all = std::ranges::all_of(read.changes, [](const auto& change) { return change.has_value(); });
  if (all) read.unplaced.clear();
  if (twice && !all && read.unplaced.empty())
    read.unplaced = fmt::format("two different objects have \"change\": {}, and another change has none", *twice);
  return read;
}

}  // namespace

Parsed<Parts<std::optional<Lesson>>> parse_lessons(std::string_view text, std::size_t changes) {
  const std::string answer = without_thoughts(text);
  text = answer;
  TRY_ASSIGN(ReadLessons read, read_lessons(text, changes));
  Parts<std::optional<Lesson>> lessons(changes);
  lessons.fault = std::move(read.unplaced);
  bool any = false;
  for (std::size_t i = 0; i < changes; ++i) {
    if (!read.changes[i]) continue;
    Parsed<Lesson>& lesson = *read.changes[i];
    any = any || lesson.has_value();
    if (lesson)
      lessons[i] = std::move(*lesson);
    else
      lessons.fault += (lessons.fault.empty() ? "" : "; ") +
                       (changes > 1 ? fmt::format("change {}: {}", i + 1, lesson.error()) : lesson.error());
  }
  if (any) return lessons;
  if (!lessons.fault.empty()) return refuse(lessons.fault);
  if (says_no_optimization(text)) return lessons;
  return refuse(
      "it holds no JSON object with \"title\", \"strategy\", \"before\" and \"after\", nor the words no "
      "optimization");
}

}  // namespace accelopt::agents
