// SPDX-License-Identifier: Apache-2.0
// The headers of a source are most of what reading it takes, and the versions of one kernel have the same ones: they
// are read once. Only for the sources of this folder: it needs libclang's headers.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "syntax/libclang.hpp"

namespace accelopt::syntax {

/// One source as libclang takes it. `files` holds it first, then the headers that exist in memory only.
struct TranslationInput {
  std::vector<const char*> arguments;
  std::vector<CXUnsavedFile> files;
};

/// A few translation units, the least recently used of which goes first. Threads: any; sources with the same headers
/// are read one after the other.
class Preambles {
 public:
  Preambles();

  /// The name under which sources are read: libclang keeps headers only for a file that exists, and nothing lies beside
  /// this one that could be included by accident.
  [[nodiscard]] const std::string& file_name() const { return file_name_; }

  /// Has libclang read the source and calls `use` with what it made, which holds no declarations of headers at its top.
  /// @param headers equal for sources that begin with the same headers, read with the same arguments.
  /// @error internal: libclang gave no tree.
  base::Result<void> translate(const Api& api, const std::string& headers, TranslationInput input,
                               const std::function<void(CXTranslationUnit)>& use);

 private:
  struct Kept;
  std::shared_ptr<Kept> find(const Api& api, const std::string& headers);

  base::FileDescriptor file_;  ///< empty, in memory
  std::string file_name_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Kept>> kept_;  ///< the last used first
};

}  // namespace accelopt::syntax
