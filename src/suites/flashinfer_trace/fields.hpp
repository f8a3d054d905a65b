// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "suites/flashinfer_trace/schema.hpp"

namespace accelopt::suites::flashinfer_trace {

/// Reads the members of one JSON object. The first that is not what it must be is kept as the problem; after it every
/// value is a default.
class Fields {
 public:
  /// `path` is put before the names in the problem: "axes.M".
  Fields(const OrderedJson& object, std::string path, std::string& problem);

  /// Null and absent are the same.
  [[nodiscard]] bool has(const char* name) const;
  std::string text(const char* name);     ///< required, not empty
  std::string text_or(const char* name);  ///< empty where it is absent
  std::int64_t count(const char* name);   ///< required; a whole number, 0 or more; may be a string
  double number(const char* name);        ///< required; may be a string, also "NaN", "Infinity"
  std::optional<bool> boolean(const char* name);
  std::vector<std::string> texts(const char* name);  ///< empty where it is absent
  const OrderedJson& object(const char* name);       ///< required
  const OrderedJson& array(const char* name);        ///< required
  [[nodiscard]] std::string path(std::string_view name) const;
  void refuse(std::string_view name, std::string_view why);

 private:
  [[nodiscard]] const OrderedJson* find(const char* name) const;
  /// The member; null, and a problem, where it is absent.
  const OrderedJson* require(const char* name);

  const OrderedJson& object_;
  std::string path_;
  std::string& problem_;
};

/// A whole number of 0 or more, also as a string or as 3.0.
std::optional<std::int64_t> lax_count(const OrderedJson& value);
/// A number, also as a string; NaN and infinities as strings.
std::optional<double> lax_number(const OrderedJson& value);
/// Whether a double holds this whole number.
bool fits_double(std::int64_t value);
/// Whether it is a whole number, also as a string, that `lax_number` rounds.
bool is_rounded(const OrderedJson& value);

}  // namespace accelopt::suites::flashinfer_trace
