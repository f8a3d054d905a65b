// SPDX-License-Identifier: Apache-2.0
// A winner's text on its way into the user's file.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/patch_form.hpp"
#include "syntax/edit.hpp"

namespace accelopt::scaffold {

/// A definition or declaration of a header.
struct HeaderChunk {
  Chunk chunk;                      ///< its extent is in the header
  std::vector<std::string> tokens;  ///< of its text
};

/// The user's file around the function.
struct Place {
  const syntax::Unit& unit;
  const syntax::Function& function;
  std::vector<Chunk> chunks;
  std::size_t begin = 0;  ///< of the outermost block around the function, or of a conditional that holds its begin
                          ///< alone; else, and always in C, of its definition, with attributes
  std::vector<std::string> macros{};  ///< -D and -U of the file's build
  /// What headers of the user's say that the file includes before the function.
  std::vector<HeaderChunk> of_headers{};
};

Place place_of(const syntax::Unit& unit, const syntax::Function& function);

/// What the place's headers say, those that are found in `folders`.
std::vector<HeaderChunk> header_chunks(const syntax::Clang& clang, const Place& place, const HeaderFolders& folders);

/// The winner as text that a user's file can hold, at its top level, and that changes nothing else there.
class Transplant {
 public:
  Transplant(const model::Task& task, const Place& place, PatchForm form);

  /// In C++ within a namespace of its own. @error unsupported: the winner defines no kernel.
  base::Result<std::string> block(const syntax::Clang& clang, const std::string& winner);

  /// What `block` left out: the winner's includes, as spelled.
  [[nodiscard]] const std::vector<std::string>& includes() const { return includes_; }
  /// Of the names of all that belongs to the winner: "f_accelopt".
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  /// How the function calls the winner.
  [[nodiscard]] std::string callee() const;
  /// The declaration of the winner that `block` defines, for another file than its own.
  [[nodiscard]] std::string declaration() const;

 private:
  /// A definition or declaration of the winner.
  struct Declared {
    const Chunk& chunk;
    syntax::Extent whole;              ///< with its prefixes
    const syntax::Function* function;  ///< that it defines or is the prototype of; or null
  };

  [[nodiscard]] std::string with_numbers(const syntax::Unit& unit) const;
  [[nodiscard]] bool is_constant(const std::string& name) const;
  [[nodiscard]] bool is_of_build(std::string_view text) const;
  [[nodiscard]] bool has_already(const Chunk& chunk, std::string_view text) const;
  [[nodiscard]] bool is_of_header(const Chunk& chunk, std::string_view text) const;
  [[nodiscard]] bool is_in_place(const Chunk& chunk, std::string_view text) const;
  [[nodiscard]] bool is_redefined(const std::string& macro) const;
  base::Result<std::string> take_apart(const syntax::Unit& unit);
  void free_declaration(const syntax::Unit& unit, const Declared& one, syntax::Edits& edits);
  void free_linkage(const syntax::Unit& unit, const Declared& one, syntax::Edits& edits) const;
  [[nodiscard]] const syntax::Function* function_of(const syntax::Unit& unit, const Chunk& chunk) const;
  [[nodiscard]] std::string with_prefixes(const std::string& text, const syntax::Unit& unit) const;
  [[nodiscard]] bool repeats_comment(std::string_view line) const;
  [[nodiscard]] std::string tidied(const std::string& text) const;
  [[nodiscard]] std::string wrapped(const std::string& body) const;
  [[nodiscard]] std::string kernel_name() const;

  const model::Task& task_;
  const Place& place_;
  PatchForm form_;
  model::Language language_;
  std::string prefix_;
  std::string scope_;       ///< of the kernel in the winner: "app::"
  std::string parameters_;  ///< the kernel's, as it declares them
  std::string arguments_;   ///< their names
  std::vector<std::string> includes_;
  std::set<std::string> already_there_;
  std::map<std::string, int> definitions_;  ///< of macros, in the winner
  std::set<std::string> changed_names_;  ///< that the winner defines otherwise than the user, up to where it was read
  bool has_pragmas_ = false;
};

}  // namespace accelopt::scaffold
