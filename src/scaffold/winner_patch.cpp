// SPDX-License-Identifier: Apache-2.0
#include "scaffold/winner_patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/files.hpp"
#include "base/unified_diff.hpp"
#include "model/c_tokens.hpp"
#include "model/directives.hpp"
#include "model/tuning.hpp"
#include "scaffold/call_adapter.hpp"
#include "scaffold/entry_content.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/inlined_headers.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/transplant.hpp"
#include "scaffold/words.hpp"
#include "syntax/edit.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;
using model::Language;

/// Where includes go: after the last one before the function that no conditional guards; else at the top, after its
/// comments.
std::size_t include_place(const Place& place) {
  int depth = 0;
  std::size_t best = std::string::npos;
  for (const Chunk& chunk : place.chunks) {
    if (chunk.extent.begin >= place.begin) break;
    if (!chunk.scope.empty()) continue;
    const std::string_view text = place.unit.text(chunk.extent);
    if (chunk.kind == Chunk::Kind::preprocessor) {
      const std::string_view word = text.substr(std::min(text.find_first_not_of("# \t"), text.size()));
      if (word.starts_with("if")) ++depth;
      if (word.starts_with("endif")) --depth;
    }
    if (chunk.kind == Chunk::Kind::include && depth == 0) best = chunk.extent.end;
  }
  if (best != std::string::npos) return std::min(best + 1, place.unit.source.size());
  return place.chunks.empty() ? 0 : place.chunks.front().extent.begin;
}

/// Start of the comments right above the definition, without an empty line between; else of its own line, or of the
/// definition where something else stands on that line before it.
std::size_t block_place(const Place& place) {
  const std::string& source = place.unit.source;
  std::size_t at = 0;  // end of what stands before
  for (const model::Token& token : model::c_tokens(source)) {
    if (token.offset >= place.begin) break;
    if (token.kind != model::TokenKind::directive) at = token.end;
  }
  bool begins_line = at == 0;  // nothing but comments stands before, on the line that began at `line`
  bool has_comment = false;    // the line
  std::size_t line = at;
  std::optional<std::size_t> comments;
  while (at < place.begin) {
    if (const std::size_t end = end_of_comment(source, at); end != at) {
      if (begins_line && !comments) comments = line;
      has_comment = true;
      at = end;
    } else if (source[at++] == '\n') {
      if (!has_comment) comments.reset();
      begins_line = true;
      has_comment = false;
      line = at;
    }
  }
  if (comments) return *comments;
  return begins_line ? line : place.begin;
}

std::string missing_includes(const Place& place, std::vector<std::string> wanted, const std::string& block,
                             Language language) {
  const auto uses = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return has_word(block, name); });
  };
  const bool cpp = language == Language::cpp;
  if (uses({"int64_t", "int32_t", "int16_t", "int8_t", "uint64_t", "uint32_t", "uint16_t", "uint8_t"})) {
    wanted.insert(wanted.begin(), cpp ? "<cstdint>" : "<stdint.h>");
  }
  if (uses({"size_t", "ptrdiff_t"})) wanted.insert(wanted.begin(), cpp ? "<cstddef>" : "<stddef.h>");
  if (!cpp && uses({"bool"})) wanted.insert(wanted.begin(), "<stdbool.h>");
  std::set<std::string> present;
  for (const Chunk& chunk : place.chunks) {
    if (chunk.kind == Chunk::Kind::include && chunk.extent.begin < place.begin) present.insert(chunk.name);
  }
  std::string lines;
  for (const std::string& name : wanted) {
    if (present.insert(name).second) lines += "#include " + name + "\n";
  }
  return lines;
}

/// C90 has no // comments.
std::string remark(const PatchForm& form, Language language) {
  std::string flags;
  for (const std::string& flag : form.flags) flags += " " + flag;
  const std::string text = "Made faster by accelopt" + (flags.empty() ? "" : ", measured with" + flags) + ".";
  return language == Language::c ? "/* " + text + " */\n" : "// " + text + "\n";
}

/// The body with the old one behind the guard in a block of its own: no declaration then follows a statement.
std::string with_inner_block(const std::string& body, std::string_view old_body) {
  const std::string_view rest = old_body.substr(1);
  if (rest == "}" || !body.ends_with(rest)) return body;
  return body.substr(0, body.size() - rest.size()) + "\n  {" + std::string(rest.substr(0, rest.size() - 1)) + "  }\n}";
}

/// What takes the place of an extent of the user's file.
struct Part {
  syntax::Extent extent;
  std::string text;
};

Result<std::string> with_parts(const std::string& source, const std::vector<Part>& parts,
                               std::vector<Change>& changes) {
  syntax::Edits edits;
  std::size_t longer = 0;  // by the parts before
  for (const Part& part : parts) {
    const std::size_t begin = part.extent.begin + longer;
    changes.push_back({part.extent, {begin, begin + part.text.size()}});
    longer += part.text.size() - part.extent.size();
    edits.replace(part.extent, part.text);
  }
  return edits.apply(source);
}

/// A function that a winner takes the place of.
struct Replaced {
  const PatchRequest* request = nullptr;
  fs::path path;          ///< of the user's file
  std::string name;       ///< in full
  std::size_t begin = 0;  ///< in the file
};

/// The file beside the user's that holds the winner.
fs::path own_file_of(const fs::path& file, const std::string& function) {
  return file.parent_path() / (plain_name(function) + "_accelopt" + file.extension().string());
}

std::string language_names(Language winner, const std::string& file, Language own) {
  return "the winner is written in " + std::string(model::to_string(winner)) + " and " + file + " in " +
         std::string(model::to_string(own));
}

/// That the function, and what it uses in the file, are still those that the task was made from: a winner does what
/// these did.
Result<void> check_content(const syntax::Clang& clang, const model::Entry& entry, const std::string& source,
                           Language language, const fs::path& file) {
  if (entry.content.empty()) return {};
  const HeaderFolders folders = header_folders_of(file);
  TRY_ASSIGN(const bool same, is_content_of(clang, entry.content, source, language, entry.function, folders));
  if (same) return {};
  const bool lacks_header = with_headers(clang, source, language, folders).find("#include \"") != std::string::npos;
  return fail(ErrorCode::invalid_argument,
              entry.function + " in " + file.filename().string() +
                  ", or what it uses there or in headers, was changed after the task was made, and a winner would undo "
                  "the change; make the task again with accelopt init, and search there" +
                  (lacks_header ? "; if only your build's compile_commands.json is gone, build again" : ""));
}

}  // namespace

Result<PatchedText> replace_entry(const syntax::Clang& clang, const PatchRequest& request,
                                  const std::string& user_source) {
  const model::Task& task = request.task;
  if (!task.entry)
    return fail(ErrorCode::invalid_argument, task.definition.name + " has no [entry], so there is nothing to patch");
  if (const FileForm form = form_of(user_source); form.has_mark || form.has_returns) {
    TRY_ASSIGN(PatchedText patched, replace_entry(clang, request, plain_text(user_source)));
    return PatchedText{in_form(patched.source, form), in_form(patched.own_file, {false, form.has_returns}),
                       patched.note, std::move(patched.changes)};
  }
  TRY_ASSIGN(const Language language, model::language_of_file(fs::path(task.entry->file).filename().string()));
  if (language != request.winner.language) {
    return fail(ErrorCode::unsupported, language_names(request.winner.language, task.entry->file, language));
  }
  const HeaderFolders folders = header_folders_of(entry_file(request));
  TRY_ASSIGN(const syntax::Unit unit, read_user_file(clang, user_source, language, folders));
  TRY_ASSIGN(const syntax::Function* const function, find_function(unit, task.entry->function));
  Place place = place_of(unit, *function);
  place.macros = folders.macros;
  place.of_headers = header_chunks(clang, place, folders);
  Transplant transplant(task, place, request.form);
  TRY_ASSIGN(const std::string block, transplant.block(clang, model::main_text(model::standing_alone(request.winner))));
  TRY_ASSIGN(const AdaptedBody adapted, adapted_body(task, unit, *function, transplant.callee(), transplant.prefix()));

  std::vector<Part> parts;  // in the order of the text
  PatchedText result;
  const bool elsewhere = request.form.flags_by == FlagsBy::own_file;
  const std::string inserted = (elsewhere ? transplant.declaration() : block) + adapted.helper;
  const std::string includes = missing_includes(place, elsewhere ? std::vector<std::string>{} : transplant.includes(),
                                                inserted + adapted.body, language);
  const std::string made = remark(request.form, language) + inserted + "\n";
  const std::size_t at = block_place(place);
  const bool is_inside_line = at > 0 && user_source[at - 1] != '\n';
  if (include_place(place) < at) {
    if (!includes.empty()) parts.push_back({{include_place(place), include_place(place)}, includes});
    parts.push_back({{at, at}, (is_inside_line ? "\n" : "") + made});
  } else {  // the file begins with the function's comment
    parts.push_back({{at, at}, includes + (includes.empty() ? "" : "\n") + made});
  }
  const bool is_inner = language == Language::c && folders.declarations == Declarations::before_statements;
  parts.push_back(
      {function->body, is_inner ? with_inner_block(adapted.body, unit.text(function->body)) : adapted.body});
  result.note = adapted.note;
  TRY_ASSIGN(result.source, with_parts(user_source, parts, result.changes));
  if (elsewhere) {
    syntax::Unit empty;
    empty.language = language;
    const Place top{empty, *function, {}, 0, {}};
    result.own_file =
        remark(request.form, language) + missing_includes(top, transplant.includes(), block, language) + "\n" + block;
  }
  return result;
}

Result<WinnerPatch> make_winner_patch(const std::vector<PatchRequest>& requests) {
  TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
  std::vector<const PatchRequest*> ordered;
  for (const PatchRequest& request : requests) {
    if (!request.task.entry) {
      return fail(ErrorCode::invalid_argument,
                  request.task.definition.name + " has no [entry], so there is nothing to patch");
    }
    ordered.push_back(&request);
  }
  // The patch does not depend on the order in which the winners are named.
  std::sort(ordered.begin(), ordered.end(), [](const PatchRequest* a, const PatchRequest* b) {
    return std::pair(entry_file(*a), a->task.entry->function) < std::pair(entry_file(*b), b->task.entry->function);
  });
  WinnerPatch patch;
  const auto file_at = [&](const fs::path& path) -> Result<PatchedFile*> {
    for (PatchedFile& file : patch.files) {
      if (file.path == path) return &file;
    }
    TRY_ASSIGN(std::string before, base::read_file(path));
    std::string after = before;
    patch.files.push_back({path, std::move(before), std::move(after)});
    return &patch.files.back();
  };
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<Replaced> all;
  for (const PatchRequest* request : ordered) {
    const fs::path path = entry_file(*request);
    TRY_ASSIGN(PatchedFile* const file, file_at(path));
    TRY_ASSIGN(const Language language, model::language_of_file(path.filename().string()));
    TRY_ASSIGN(const syntax::Unit unit, read_user_file(clang, file->before, language, header_folders_of(path)));
    TRY_ASSIGN(const syntax::Function* const function, find_function(unit, request->task.entry->function));
    if (!seen.insert({path.string(), function->qualified_name()}).second) {
      return fail(ErrorCode::invalid_argument, "two of the runs made " + function->qualified_name() + " in " +
                                                   path.filename().string() + " faster; name only one of them");
    }
    all.push_back({request, path, function->qualified_name(), function->extent.begin});
  }
  // In the order of the text: a winner finds what one before it brought along.
  std::sort(all.begin(), all.end(),
            [](const Replaced& a, const Replaced& b) { return std::tie(a.path, a.begin) < std::tie(b.path, b.begin); });
  for (const auto& [request, path, name, begin] : all) {
    TRY_ASSIGN(PatchedFile* const file, file_at(path));
    TRY_ASSIGN(const Language language, model::language_of_file(path.filename().string()));
    TRY(check_content(clang, *request->task.entry, file->before, language, path));
    // Winners that are already in the file may hold functions of the same name.
    model::Task named = request->task;
    named.entry->function = name;
    TRY_ASSIGN(PatchedText text,
               replace_entry(clang, {named, request->winner, request->task_folder, request->form}, file->after));
    file->after = std::move(text.source);
    if (!text.note.empty()) patch.notes.push_back(std::move(text.note));
    file->changes = composed(file->changes, text.changes);
    if (text.own_file.empty()) continue;
    patch.files.push_back({own_file_of(path, name), "", std::move(text.own_file), path, request->form.flags, {}});
  }
  return patch;
}

fs::path repository_of(const fs::path& file) {
  for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    std::error_code ignored;
    if (fs::exists(folder / ".git", ignored)) return folder;
    if (folder == folder.root_path()) break;
  }
  return file.parent_path();
}

fs::path entry_file(const PatchRequest& request) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(request.task_folder / request.task.entry->file), ignored);
}

std::string diff_of(const WinnerPatch& patch) {
  std::string text;
  for (const PatchedFile& file : patch.files) {
    const std::string path = file.path.lexically_relative(repository_of(file.path)).generic_string();
    const bool is_new = !file.beside.empty();
    text += base::unified_diff(file.before, file.after, is_new ? "/dev/null" : "a/" + path, "b/" + path);
  }
  return text;
}

}  // namespace accelopt::scaffold
