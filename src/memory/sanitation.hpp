// SPDX-License-Identifier: Apache-2.0
// Texts of experiences were written by models and strangers and are shown to models. What is stored is bounded and free
// of control characters; what still looks as if it spoke to a model is told apart (prompts quote all of it as data).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/experience.hpp"

namespace accelopt::memory {

// Longest texts that are stored, bytes.
inline constexpr std::size_t kLongestTitle = 200;
inline constexpr std::size_t kLongestWord = 200;         ///< op_type, target, device, ...
inline constexpr std::size_t kLongestToolchain = 2'000;  ///< with all flags
inline constexpr std::size_t kLongestText = 8'000;
inline constexpr std::size_t kLongestDiff = 64'000;
/// Most workloads whose effects are stored.
inline constexpr std::size_t kMostWorkloads = 64;
/// Most that an experience is stored to have been shown, used, confirmed or refuted.
inline constexpr std::int64_t kMostCredit = 1'000'000;

/// An experience that is fit to be stored.
struct Fit {
  model::Experience experience;         ///< with its id in stores
  std::vector<std::string> suspicions;  ///< "control characters", "over 8000 bytes: cut", "orders to a model", ...
};

/// The experience with its texts bounded, valid UTF-8 and free of control, invisible and direction-changing characters.
/// Its counts are within their bounds, and what only a retrieval knows (agreeing, contradicting) is dropped.
/// Its id is its own where that is an id of a store already (16 lower-case hexadecimal digits: it was exported, and may
/// have been edited since), else model::content_id of what is left. Fitting what is fit changes nothing.
Fit made_fit(const model::Experience& experience);

/// Whether the text is an id of a store.
bool is_store_id(std::string_view id);

/// Why the text looks as if it spoke to a model, or would end the quotation that it is shown in; empty: it does not.
/// However much white space stands between the words.
std::vector<std::string> suspicions_of(std::string_view text);

}  // namespace accelopt::memory
