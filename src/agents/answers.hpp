// SPDX-License-Identifier: Apache-2.0
// Reading what a model answered. The form is strict where a wrong guess would cost an evaluation, and bears what models
// like to put around it. A reason in place of a value is a sentence that can be sent back to the model.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/roles.hpp"

namespace accelopt::agents {

/// A value, or the reason why the text holds none.
template <class T>
using Parsed = tl::expected<T, std::string>;

/// What an answer in several parts gives.
template <class T>
struct Parts : std::vector<T> {
  using std::vector<T>::vector;
  std::string fault{};  ///< why further parts cannot be used; empty: there are none
};

/// A plan: a line "Title: ...", a line "Rests on: ids or none" right after it, then the text. Marks of emphasis,
/// headings, the numbers of a list and a fence around the whole are borne. Where several lines begin with "Title:", the
/// last one that a "Rests on:" line follows counts (what comes before is a draft), else the first. A missing "Rests
/// on:" means none; ids that are not in `shown` are dropped, because the planner cannot have rested on them.
Parsed<model::Plan> parse_plan(std::string_view text, const std::vector<model::Experience>& shown);

/// Up to `most` plans, each as parse_plan reads one: a "Title:" line that a "Rests on:" line follows, or that begins a
/// paragraph, begins the next; where no line says "Rests on:", each "Title:" line does. Of two with the same title the
/// later one counts. Where that or an unreadable plan leaves fewer than `most`, `fault` says so; a planner may write
/// fewer. @error a reason: there is none.
Parsed<Parts<model::Plan>> parse_plans(std::string_view text, const std::vector<model::Experience>& shown, int most);

/// What stands behind "Title:" on a line before the first fence or edit; empty: there is none.
std::string title_before_file(std::string_view text);

/// Lessons on `changes` changes, none for one that teaches nothing: JSON objects with a "title", in others too, each
/// with the number of its "change", which only a single change needs not; of several about one change the last one
/// counts. `before` and `after` may be lists of lines, and line ends in texts need not be escaped. The words "no
/// optimization" as a line of their own, alone or behind "Change N:", say that the model saw none. A lesson that cannot
/// be read is left out, with its change in `fault`. @error a reason: none can be read, or the numbers of their changes
/// cannot be right.
Parsed<Parts<std::optional<Lesson>>> parse_lessons(std::string_view text, std::size_t changes);

}  // namespace accelopt::agents
