// SPDX-License-Identifier: Apache-2.0
// What the text of an NKI kernel tells of its tiles.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::nki {

/// Partitions and free elements, as texts: ("128", "512").
using Extent = std::pair<std::string, std::string>;

struct Tiles {
  std::map<std::string, Extent> indices;  ///< of nl.arange(n)[:, None] and [None, :]; one part of each is empty
  std::map<std::string, Extent> tiles;    ///< of those with two axes, where both are known
};

Tiles tiles_of(const std::vector<Statement>& all);

/// The number that the text is, or that the name is given by its only statement; 0: not known.
int number_of(const std::vector<Statement>& all, const std::string& text);

/// How often the kernel gives the name a value by "name = ...".
std::size_t times_assigned(const std::vector<Statement>& all, const std::string& name);

}  // namespace accelopt::recipes::nki
