// SPDX-License-Identifier: Apache-2.0
// Reading a text in a test.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "syntax/source.hpp"

namespace accelopt::syntax {

/// One handle for all tests: libclang is a build dependency of them.
inline const Clang& clang() {
  static const Clang kClang = [] {
    auto loaded = Clang::load();
    if (!loaded) ADD_FAILURE() << loaded.error().message;
    return *loaded;
  }();
  return kClang;
}

/// The text as a unit; a failure of the test when it cannot be read.
inline Unit read(const std::string& source, model::Language language = model::Language::cpp,
                 const std::string& task_header = "") {
  ParseInput input;
  input.source = source;
  input.language = language;
  input.headers = {{"task.h", task_header}};
  auto unit = parse(clang(), input);
  if (!unit) {
    ADD_FAILURE() << unit.error().message;
    return {};
  }
  return *unit;
}

}  // namespace accelopt::syntax
