// SPDX-License-Identifier: Apache-2.0
#include "memory/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "memory/utility.hpp"
#include "memory/words.hpp"

namespace accelopt::memory {
namespace {

// What a match is made of; the sum of the best of each is 1. What fits nothing but language and target still counts a
// little: a general rule is worth reading.
constexpr double kAnything = 0.15;
constexpr double kSameOperator = 0.4;
constexpr double kSameFamily = 0.25;
constexpr double kSameWords = 0.3;
constexpr double kSameBound = 0.15;
/// Of another operator only what has at least this much of the best match's words, and the same bound, is shown.
constexpr double kAlikeWords = 0.5;
/// It needs so many words of the query's text, too: the best match may share no more than the word for its bound. The
/// recorded lessons that fit a kernel of suites/nkibench-cpu best, but are about another operator, share three to
/// eleven words with it (silu's two).
constexpr std::size_t kFewestAlikeWords = 3;
constexpr std::size_t kMostQueryWords = 400;

const std::vector<std::vector<std::string>>& families() {
  static const std::vector<std::vector<std::string>> kFamilies{
      {"matmul", "bmm", "transpose_matmul", "lora", "swiglu", "gemv", "int8_matmul"},
      {"rmsnorm_matmul", "add_rmsnorm_matmul", "matmul_add_rmsnorm", "layernorm"},
      {"bmm_softmax", "gqa_full", "cross_entropy"},
      {"spmv_csr", "embedding_bag"},
  };
  return kFamilies;
}

/// All of one strategy, best first.
struct Group {
  std::vector<std::size_t> good;  ///< helps or mends
  std::vector<std::size_t> bad;
};

/// The strategy's words and numbers: who says the same under another title says the same. Without any, the title's.
std::string text_key(const model::Experience& experience) {
  constexpr std::size_t kMostKeyWords = 2000;
  std::string key;
  for (const std::string& word : words_and_numbers_of(experience.strategy, kMostKeyWords)) key += word + " ";
  return key.empty() ? "title: " + experience.title : key;
}

/// Whether the experience has enough words of the query's text, or all where it has fewer.
bool shares_words(const model::Experience& experience, const Query& query) {
  const std::vector<std::string> asked = words_of(query.text, kMostQueryWords);
  const std::vector<std::string> own = words_of(indexed_text(experience), kMostQueryWords);
  const auto common =
      std::ranges::count_if(asked, [&](const std::string& word) { return std::ranges::find(own, word) != own.end(); });
  return static_cast<std::size_t>(common) >= std::min(kFewestAlikeWords, asked.size());
}

bool same_place(const model::Experience& a, const model::Experience& b) {
  return a.op_type == b.op_type && a.bound == b.bound && a.target == b.target && a.language == b.language;
}

}  // namespace

double value_of(const Item& item) {
  return utility_of(item.experience) * std::exp2(-static_cast<double>(std::max<std::int64_t>(0, item.age)) / kHalfLife);
}

double similarity_of(const Match& match, const Query& query) {
  const model::Experience& it = match.item.experience;
  double similarity = kAnything + kSameWords * std::clamp(match.text_similarity, 0.0, 1.0);
  if (!query.op_type.empty() && it.op_type == query.op_type) {
    similarity += kSameOperator;
  } else if (const auto family = family_of(query.op_type); std::ranges::find(family, it.op_type) != family.end()) {
    similarity += kSameFamily;
  }
  if (!query.bound.empty() && it.bound == query.bound) similarity += kSameBound;
  return similarity;
}

bool is_alike(const Match& match, const Query& query) {
  const model::Experience& it = match.item.experience;
  const auto family = family_of(query.op_type);
  const bool same_kind = it.op_type.empty() || query.op_type.empty() || it.op_type == query.op_type ||
                         std::ranges::find(family, it.op_type) != family.end();
  return same_kind || (it.bound == query.bound && match.text_similarity >= kAlikeWords && shares_words(it, query));
}

std::string strategy_key(const model::Experience& experience) {
  std::string key;
  for (const std::string& word : words_and_numbers_of(experience.title, 64)) {
    if (word != "avoid") key += word + " ";
  }
  // A recipe writes itself on a line of its own: "Recipe: NAME | at: PLACE | with: ... | shape: ...".
  constexpr std::string_view kRecipe = "\nRecipe: ";
  const std::string text = "\n" + experience.strategy;
  const std::size_t line = text.rfind(kRecipe);
  if (line != std::string::npos) {
    const std::string recipe = text.substr(line + 1, std::min(text.find('\n', line + 1), text.size()) - line - 1);
    const std::size_t place = recipe.find(" | at: ");
    const std::size_t rest = place == std::string::npos ? std::string::npos : recipe.find(" | ", place + 1);
    key += "| " + recipe.substr(0, place);
    if (rest != std::string::npos) key += recipe.substr(rest);
  }
  if (key.empty()) key = experience.strategy;  // a bare note has no title
  return key;
}

std::vector<model::Experience> rank(const std::vector<Match>& matches, const Query& query, int places) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (query.alike == Alike::merged && !is_alike(matches[i], query)) continue;
    order.emplace_back(value_of(matches[i].item) * similarity_of(matches[i], query), i);
  }
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    const std::string& a_id = matches[a.second].item.experience.id;
    const std::string& b_id = matches[b.second].item.experience.id;
    return a.first != b.first ? a.first > b.first : a_id < b_id;
  });
  const auto experience = [&](std::size_t i) -> const model::Experience& { return matches[i].item.experience; };

  if (query.alike == Alike::each) {
    std::vector<model::Experience> all;
    for (const auto& [score, i] : order) {
      if (all.size() < static_cast<std::size_t>(std::max(0, places))) all.push_back(experience(i));
    }
    return all;
  }

  std::deque<Group> groups;  // best first
  std::map<std::string, Group*> by_key;
  std::map<std::string, Group*> by_text;
  for (const auto& [score, i] : order) {
    Group*& same_key = by_key[strategy_key(experience(i))];
    Group*& same_text = by_text[text_key(experience(i))];
    if (same_key == nullptr) same_key = same_text != nullptr ? same_text : &groups.emplace_back();
    if (same_text == nullptr) same_text = same_key;
    const bool bad = experience(i).polarity == model::Polarity::regresses;
    (bad ? same_key->bad : same_key->good).push_back(i);
  }

  std::vector<model::Experience> shown;
  const auto room = [&] { return shown.size() < static_cast<std::size_t>(std::max(0, places)); };
  const auto show = [&](std::size_t i, std::size_t agreeing, std::size_t contradicting) {
    if (!room()) return;
    shown.push_back(experience(i));
    shown.back().agreeing = static_cast<int>(agreeing);
    shown.back().contradicting = static_cast<int>(contradicting);
  };
  std::map<std::size_t, std::size_t> position;
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i].second] = i;
  for (const Group& group : groups) {
    if (!room()) break;
    const bool good_leads =
        group.bad.empty() || (!group.good.empty() && position[group.good[0]] < position[group.bad[0]]);
    const auto& lead = good_leads ? group.good : group.bad;
    const auto& other = good_leads ? group.bad : group.good;
    const model::Experience& first = experience(lead.front());
    std::vector<std::size_t> against;
    for (const std::size_t i : other) {
      if (same_place(experience(i), first)) against.push_back(i);
    }
    show(lead.front(), lead.size() - 1, against.size());
    if (against.empty()) {
      // It helped here and hurt elsewhere: that is no contradiction, and worth a place of its own.
      if (!other.empty()) show(other.front(), other.size() - 1, 0);
      continue;
    }
    const auto agreeing = static_cast<std::size_t>(
        std::ranges::count_if(lead, [&](std::size_t i) { return same_place(experience(i), first); }));
    show(against.front(), against.size() - 1, agreeing);
  }
  return shown;
}

std::vector<std::string> family_of(std::string_view op_type) {
  for (const auto& family : families()) {
    if (std::ranges::find(family, op_type) != family.end()) return family;
  }
  if (op_type.empty()) return {};
  return {std::string(op_type)};
}

}  // namespace accelopt::memory
