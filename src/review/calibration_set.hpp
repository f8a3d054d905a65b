// SPDX-License-Identifier: Apache-2.0
// The bundled pairs of a calibration: a function, a clean change of it, and one with a planted defect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "refactor/languages.hpp"

namespace accelopt::review {

struct CalibrationPair {
  std::string name;  ///< "off-by-one-2"
  std::string kind;  ///< "off-by-one"
  refactor::CodeLanguage language;
  std::string function;
  std::string base;  ///< texts of one file
  std::string clean;
  std::string planted;
  std::string common;   ///< a file of cases on which all three do the same
  std::string witness;  ///< one on which the planted change alone does otherwise
};

/// The name of a pair's source file, which its driver imports.
std::string subject_file(const refactor::CodeLanguage& language);

/// @error parse: a part is missing or empty; the message names the file.
base::Result<CalibrationPair> parse_calibration_pair(std::string_view name, std::string_view text);

/// The first `most` of the bundled pairs, in an order in which every kind comes before any comes again.
base::Result<std::vector<CalibrationPair>> bundled_pairs(std::size_t most);
/// The text of a bundled driver. @error not_found: no pair is in this language.
base::Result<std::string> bundled_driver(const refactor::CodeLanguage& language);

/// What sways a reviewer and says nothing of the code.
enum class Bait { dead_code, comment, author, own };
inline constexpr std::size_t kBaits = 4;
std::string_view to_string(Bait bait);
/// The diff from base to clean as it is shown, with the bait. `model`: whose own work `own` says that it is.
std::string baited_diff(const CalibrationPair& pair, Bait bait, std::string_view model);
/// The diff from the base to this text as it is shown.
std::string shown_diff(const CalibrationPair& pair, std::string_view changed);

}  // namespace accelopt::review
