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
#include "memory/surreal/digest.hpp"

namespace accelopt::memory::surreal {

/// Reads the cards of these piles, kPiles of them, that changed since the last time; for the first time from a pile's
/// digest and the cards after it, and writes a digest where there were many of those. @error as Client::ask.
base::Result<void> refresh(Client& client, std::map<PileName, CardPile>& piles, const std::vector<PileName>& names);
/// Reads the cards of all. @error likewise.
base::Result<void> read_all(Client& client, CardPile& pile);

}  // namespace accelopt::memory::surreal
