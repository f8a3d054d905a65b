// SPDX-License-Identifier: Apache-2.0
// Precompiled for every target: the headers that most sources include and that take a compiler longest. Sources still
// include what they use; the tidy preset builds without this file and finds those that do not.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.hpp"
