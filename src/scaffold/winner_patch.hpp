// SPDX-License-Identifier: Apache-2.0
// `winner.patch`: winning kernels put in the places of the user's own functions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"
#include "scaffold/changes.hpp"
#include "scaffold/patch_form.hpp"
#include "syntax/clang.hpp"

namespace accelopt::scaffold {

/// One winner and where it goes.
struct PatchRequest {
  const model::Task& task;
  const model::Solution& winner;
  std::filesystem::path task_folder;
  PatchForm form;
};

/// The absolute path of the user's file. Requires an [entry].
std::filesystem::path entry_file(const PatchRequest& request);

struct PatchedText {
  std::string source;
  std::string own_file;           ///< where the form puts the winner into a file of its own: that file
  std::string note;               ///< for people: for which sizes the winner is called
  std::vector<Change> changes{};  ///< of the source, both texts in plain form
};

/// The user's file with the function of the task's [entry] replaced: its signature stays, its body calls the winner,
/// which stands before the outermost block around it with its helpers (C++: in a namespace of its own) and includes
/// that the file lacks. Axes that are constant in the task are numbers there; the old body serves all calls for
/// which the winner was not verified, as adapted_body says, in C in a block of its own where the file's build warns of
/// declarations behind statements. A byte order mark and the file's line ends stay.
/// @error unsupported: the winner is in another language, or has no kernel; invalid_argument: the signature does not
/// fit [entry]; not_found: the file does not define the function; as find_function.
base::Result<PatchedText> replace_entry(const syntax::Clang& clang, const PatchRequest& request,
                                        const std::string& user_source);

struct PatchedFile {
  std::filesystem::path path;
  std::string before;
  std::string after;
  std::filesystem::path beside{};    ///< a new file: the user's file that calls it
  std::vector<std::string> flags{};  ///< a new file: with which it is to be compiled
  std::vector<Change> changes{};     ///< of the user's file, both texts in plain form
};

struct WinnerPatch {
  std::vector<PatchedFile> files;
  std::vector<std::string> notes{};  ///< for people: when the winners are called
};

/// All winners in their files, the same whatever their order.
/// @error invalid_argument: a task has no [entry], two winners are of one function, or the function is no longer the
/// one that the task was made from; not_found: a file is gone; unsupported: no libclang, and as replace_entry.
base::Result<WinnerPatch> make_winner_patch(const std::vector<PatchRequest>& requests);

/// The root of the file's git repository; its own folder where there is none.
std::filesystem::path repository_of(const std::filesystem::path& file);

/// The unified diff, with paths from the root of the user's git repository (from the file's own folder where there is
/// none), as `git apply` and `patch -p1` take it.
std::string diff_of(const WinnerPatch& patch);

}  // namespace accelopt::scaffold
