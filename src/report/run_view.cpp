// SPDX-License-Identifier: Apache-2.0
#include "report/run_view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {

using model::AttemptState;

namespace {

constexpr std::array kActiveStates{
    std::pair{AttemptState::planning, "planning"}, std::pair{AttemptState::executing, "executing"},
    std::pair{AttemptState::building, "building"}, std::pair{AttemptState::measuring, "measuring"},
    std::pair{AttemptState::fixing, "fixing"}};

double seconds_between(RunView::Time from, RunView::Time to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void RunView::apply(const model::Event& event, Time now) {
  if (const auto* started = std::get_if<model::RunStarted>(&event)) {
    iterations_ = started->iterations;
    device_ = printable(started->device);
  } else if (const auto* iteration = std::get_if<model::IterationStarted>(&event)) {
    iteration_ = iteration->iteration;
    attempts_.clear();
    phase_.clear();
    selected_ = false;
    if (iterations_begin_ == Time{}) iterations_begin_ = now;
  } else if (const auto* moved = std::get_if<model::AttemptMoved>(&event)) {
    apply_to_attempt(*moved);
  } else if (const auto* selected = std::get_if<model::Selected>(&event)) {
    incumbent_ = selected->incumbent;
    evaluations_ = selected->evaluations;
    measured_ = 0;
    usage_ = selected->usage;
    ++finished_iterations_;
    last_selection_ = now;
    selected_ = true;
    attempts_.clear();
  } else if (const auto* spending = std::get_if<model::Spending>(&event)) {
    usage_ = spending->usage;
  } else if (const auto* wait = std::get_if<model::DeviceWait>(&event)) {
    waiting_ = wait->state == model::DeviceWait::State::waiting;
  } else if (const auto* confirming = std::get_if<model::Confirming>(&event)) {
    phase_ =
        "confirming " + (confirming->title.empty() ? to_string(confirming->identity) : printable(confirming->title));
  }
}

void RunView::apply_to_attempt(const model::AttemptMoved& moved) {
  model::Identity key = moved.identity;
  key.fix = -1;
  if (key.attempt >= 0) {
    model::Identity plan = key;
    plan.attempt = -1;
    attempts_.erase(plan);
  }
  AttemptState& state = attempts_[key];
  if (moved.state == AttemptState::done && state != AttemptState::done && moved.status != model::Status::not_measured) {
    ++measured_;
  }
  state = moved.state;
}

std::string RunView::attempts_text() const {
  std::string text;
  for (const auto& [state, name] : kActiveStates) {
    const auto count = std::count_if(attempts_.begin(), attempts_.end(),
                                     [state = state](const auto& attempt) { return attempt.second == state; });
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  }
  const auto done = std::count_if(attempts_.begin(), attempts_.end(),
                                  [](const auto& attempt) { return attempt.second == AttemptState::done; });
  if (done > 0) text += fmt::format("{}{} of {} done", text.empty() ? "" : ", ", done, attempts_.size());
  return text;
}

std::string RunView::spend_text() const {
  if (const auto usd = usage_.total_usd(); usd && usage_.usd) return " | " + format_usd(*usd);
  const std::int64_t tokens = usage_.input_tokens + usage_.output_tokens;
  return tokens > 0 ? " | " + format_count(tokens) + " tokens" : "";
}

std::string RunView::time_text(Time now) const {
  std::string text = " | " + format_seconds(seconds_between(start_, now));
  const int left = iterations_ - iteration_ - (selected_ ? 1 : 0);
  if (finished_iterations_ == 0 || left <= 0 || phase_.starts_with("confirming")) return text;
  // As long as those that ended took on average, less what the running one has taken.
  const double each = seconds_between(iterations_begin_, last_selection_) / finished_iterations_;
  const double rest = each * left - seconds_between(last_selection_, now);
  return rest > 0 ? text + ", about " + format_seconds(rest) + " left" : text;
}

std::string RunView::status_line(Time now) const {
  std::string text;
  if (iteration_ < 0) {
    text = "verifying and measuring the baseline";
  } else if (phase_.starts_with("confirming")) {
    text = phase_;
  } else {
    text = fmt::format("iteration {}/{}", iteration_ + 1, std::max(iterations_, iteration_ + 1));
  }
  if (incumbent_) text += " | best " + format_ratio(incumbent_->score);
  text += spend_text() + time_text(now);
  if (waiting_) text += " | waiting for the device";
  if (const std::string attempts = attempts_text(); !attempts.empty()) text += " | " + attempts;
  const int evaluations = evaluations_ + measured_;
  if (evaluations > 0) text += fmt::format(" | {} evaluation{}", evaluations, evaluations == 1 ? "" : "s");
  return device_.empty() ? text : text + " | " + device_;
}

}  // namespace accelopt::report
