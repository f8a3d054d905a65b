// SPDX-License-Identifier: Apache-2.0
// Who is asked beside the roles of a search, of critical runs: a reviewer and a tester.
#pragma once

#include <string_view>

#include "model/vocabulary.hpp"

namespace accelopt::model {

/// Names in usages, in the labels of chats, and of models in the configuration.
inline constexpr std::string_view kReviewerRole = "reviewer";
inline constexpr std::string_view kTesterRole = "tester";
/// Kinds of the journal's steps that they answer.
inline constexpr std::string_view kReviewStep = "review";
inline constexpr std::string_view kTestsStep = "tests";

/// Who answers a step of this kind; empty: neither of them.
constexpr std::string_view judge_of_step(std::string_view kind) {
  if (kind == kReviewStep) return kReviewerRole;
  return kind == kTestsStep ? kTesterRole : std::string_view();
}

/// Who is asked under this label of a chat; empty: neither of them.
constexpr std::string_view judge_of_label(std::string_view label) {
  const std::string_view who = label.substr(0, label.find(' '));
  return who == kReviewerRole || who == kTesterRole ? who : std::string_view();
}

/// Who is asked under this label of a chat: a role of a search, or one of them; empty: neither.
inline std::string_view asked_of_label(std::string_view label) {
  const auto role = role_of_label(label);
  return role ? to_string(*role) : judge_of_label(label);
}

/// Whose the usage of a step of this name is, of questions that ended or got no answer: the one that answered it, or
/// that was asked in vain. Empty: nobody's; a chat's is that of the question that it is part of, if that ended.
inline std::string_view payer_of_step(std::string_view name) {
  const auto kind = step_kind(name);
  if (kind == StepKind::unanswered) return asked_of_label(step_suffix(name));
  const auto role = role_of(kind);
  return role ? to_string(*role) : judge_of_step(name);
}

}  // namespace accelopt::model
