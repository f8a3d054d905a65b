// SPDX-License-Identifier: Apache-2.0
// Changes to a source text by extent: everything that is not named stays byte for byte.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/source.hpp"

namespace accelopt::syntax {

/// Replacements of disjoint extents of one text, applied together. An empty extent is an insertion.
class Edits {
 public:
  void replace(const Extent& extent, std::string text);
  void insert(std::size_t offset, std::string text) { replace({offset, offset}, std::move(text)); }
  /// The changed text. Insertions at one place keep their order.
  /// @error invalid_argument: extents overlap, or lie outside of the text.
  [[nodiscard]] base::Result<std::string> apply(std::string_view source) const;

 private:
  struct Edit {
    Extent extent;
    std::string text;
  };
  std::vector<Edit> edits_;
};

/// The text at an extent of a function, with every use of the declared variables replaced, by declaration offset.
std::string with_names(const Unit& unit, const Function& function, const Extent& extent,
                       const std::map<std::int64_t, std::string>& replacements);

/// White space before the offset's line.
std::string indentation_at(std::string_view source, std::size_t offset);

}  // namespace accelopt::syntax
