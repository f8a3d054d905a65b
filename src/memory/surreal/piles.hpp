// SPDX-License-Identifier: Apache-2.0
// Reads cards from the server into the piles that a client chooses from.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "memory/surreal/cards.hpp"
#include "memory/surreal/client.hpp"

namespace accelopt::memory::surreal {

using PileName = std::pair<std::string, std::string>;  ///< language and target

/// Reads the cards of these piles, kPiles of them, that changed since the last time. @error as Client::ask.
base::Result<void> refresh(Client& client, std::map<PileName, CardPile>& piles, const std::vector<PileName>& names);
/// Reads the cards of all. @error likewise.
base::Result<void> read_all(Client& client, CardPile& pile);

}  // namespace accelopt::memory::surreal
