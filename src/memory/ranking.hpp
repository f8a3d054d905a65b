// SPDX-License-Identifier: Apache-2.0
// Which experiences a planner is shown: value x similarity, no strategy twice, and both sides where two contradict each
// other. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "memory/knowledge_store.hpp"

namespace accelopt::memory {

/// An experience's value halves with every so many experiences of its language that came after it.
inline constexpr double kHalfLife = 2000;

/// Value now: utility_of() (utility.hpp) fading with age.
double value_of(const Item& item);

/// How much the item is about the same: 0 to 1. Language and target are taken as equal; op_type counts most (its family
/// a little less), then the words, then the bound.
double similarity_of(const Match& match, const Query& query);

/// Whether the item may apply at all: it is about the operator or one of its family, or about none; or what bounds the
/// kernel is the same and it has many words in common, as matches go and by number. Nothing is shown rather than what
/// does not apply.
bool is_alike(const Match& match, const Query& query);

/// The best `places` of the alike matches by value x similarity, best first; ties by id. Of those with the same
/// strategy and polarity the best one stands for all, with their number in `agreeing`; where the same strategy both
/// helped and hurt on the same (op_type, bound), both are given, one behind the other, each with the other's number in
/// `contradicting`. With Alike::each all are given as they are, alike or not.
std::vector<model::Experience> rank(const std::vector<Match>& matches, const Query& query, int places);

/// What two experiences of the same strategy have in common: the words and numbers of the title, and of a recipe its
/// name, parameters and shape.
std::string strategy_key(const model::Experience& experience);

/// The op_types of the operator's family, itself among them: what a benchmark of transfer leaves out.
std::vector<std::string> family_of(std::string_view op_type);

}  // namespace accelopt::memory
