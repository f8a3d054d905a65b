// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::page {

/// One file of src/page/files/ as it was when the program was built.
struct PageFile {
  std::string_view name;
  std::string_view text;
};

std::span<const PageFile> page_files();

}  // namespace accelopt::page
