// SPDX-License-Identifier: Apache-2.0
// The tables of a SurrealDB store, made or brought up to date.
#pragma once

#include "base/result.hpp"
#include "memory/surreal/client.hpp"

namespace accelopt::memory::surreal {

/// Defines the tables, or brings older ones up to date by one version. Gives whether they are up to date: it is to be
/// called again after each step and each meeting with others, who may have done it, because a definition meets whatever
/// anybody writes.
/// @error corrupt: they are of a newer program, and untouched; as Client::ask.
base::Result<bool> prepare_once(Client& client);

}  // namespace accelopt::memory::surreal
