// SPDX-License-Identifier: Apache-2.0
// What the texts of several places of a prompt have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agents/roles.hpp"

namespace accelopt::agents {

/// Whole numbers as such, others with four digits.
std::string number_text(double value);
/// "1.50x (95 % interval 1.40x to 1.60x)"
std::string interval_text(const model::Interval& interval);
/// What a fence calls the language.
std::string_view fence_of(model::Language language);
/// Files of a repository, each below its path: of a large one the functions that may change and what stands around
/// them, by their lines.
std::string files_text(const model::Solution& solution, const model::RepoPart& repo);
/// What may change in a repository, and on which inputs it is timed and compared.
std::string repository_text(const model::Task& task);
/// What a change of a repository is to be, as a prompt's sentences have it: "faster".
std::string_view wanted_text(const model::Task& task);
/// "fast", "small in memory", "simple".
std::string_view good_text(const model::Task& task);
/// "the processor time of the whole process tree".
std::string_view counted_text(const model::Task& task);
/// What is measured of a change, and what counts.
std::string measuring_text(const model::Task& task);
/// A sentence on what worked best before in the language, for the same kind of goal, and one on what did in this run;
/// empty: nothing is known to have.
std::string past_text(const std::vector<model::Experience>& memory, const std::string& run, const model::Task& task);
/// What changed, as a fenced difference; empty where that is no shorter than the new file.
std::string short_difference(const model::Solution& before, const model::Solution& after);
/// The new file, or where much of it stayed what changed in it: never both.
std::string changed_text(const model::Solution& before, const model::Solution& after);
/// Figures of the second profile that differ from the first one's by a tenth or more, one a line.
std::string changed_figures(const model::Profile& before, const model::Profile& after);
/// One line: which figures changed most, and which stayed within a tenth.
std::string tie_text(const MeasuredTie& tie);
/// The changes that a summarizer is asked about, numbered from 1.
std::string changes_text(const std::vector<SummarizeQuestion>& questions);

}  // namespace accelopt::agents
