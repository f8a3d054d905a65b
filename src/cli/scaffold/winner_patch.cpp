// SPDX-License-Identifier: Apache-2.0
#include "cli/scaffold/winner_patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/files.hpp"
#include "base/unified_diff.hpp"
#include "cli/scaffold/extract.hpp"
#include "cli/scaffold/scaffold.hpp"
#include "cli/scaffold/transplant.hpp"
#include "cli/scaffold/words.hpp"
#include "model/c_tokens.hpp"
#include "model/directives.hpp"
#include "model/tuning.hpp"
#include "syntax/edit.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;
using model::DType;
using model::Language;

/// The name in an entry's argument: "M" of "int M".
std::string argument_name(const std::string& argument) {
  const std::size_t last = argument.find_last_not_of(' ');
  const std::size_t space = argument.find_last_of(" *&", last);
  return argument.substr(space == std::string::npos ? 0 : space + 1,
                         last - (space == std::string::npos ? 0 : space + 1) + 1);
}

/// The element type's canonical spelling in a C or C++ program on a 64-bit Unix; empty for types that only task.h
/// defines.
std::string canonical_type(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return "double";
    case DType::float32:
      return "float";
    case DType::int64:
      return "long";
    case DType::int32:
      return "int";
    case DType::int16:
      return "short";
    case DType::int8:
      return "signed char";
    case DType::uint8:
      return "unsigned char";
    case DType::boolean:
      return "bool";
    default:
      return "";
  }
}

/// Types of one size and meaning that differ in name alone.
bool same_meaning(const std::string& own, const std::string& wanted) {
  return (own == "long long" && wanted == "long") || (own == "char" && wanted == "signed char") ||
         (own == "_Bool" && wanted == "bool");
}

/// The call of the winner with the function's own arguments, and the condition under which its constants hold.
class Adapter {
 public:
  Adapter(const model::Task& task, const syntax::Function& function, Language language)
      : task_(task), function_(function), language_(language) {}

  Result<std::string> body(const std::string& callee, std::string_view old_body) const {
    if (function_.parameters.size() != task_.entry->args.size()) {
      return fail(ErrorCode::invalid_argument, function_.name + " has " + std::to_string(function_.parameters.size()) +
                                                   " parameters and entry.args names " +
                                                   std::to_string(task_.entry->args.size()) +
                                                   "; bring entry.args in line with the function");
    }
    std::string arguments;
    for (const auto* tensors : {&task_.definition.inputs, &task_.definition.outputs}) {
      for (const model::TensorSpec& tensor : *tensors) {
        TRY_ASSIGN(const std::string argument, tensor_argument(tensor, tensors == &task_.definition.outputs));
        arguments += (arguments.empty() ? "" : ", ") + argument;
      }
    }
    for (const std::string& axis : model::variable_axes(task_.definition)) {
      const syntax::Parameter* parameter = parameter_of(axis);
      if (parameter == nullptr) {
        return fail(ErrorCode::invalid_argument,
                    "entry.args lacks the variable axis " + axis + ", which the kernel must be given");
      }
      arguments += (arguments.empty() ? "" : ", ") + parameter->name;
    }
    const std::string condition = constants_hold();
    const std::string call = callee + "(" + arguments + ");\n";
    if (condition.empty()) return "{\n  " + call + "}";
    return "{\n  if (" + condition + ") {\n    " + call + "    return;\n  }" + std::string(old_body.substr(1));
  }

 private:
  const syntax::Parameter* parameter_of(const std::string& name) const {
    for (std::size_t i = 0; i < task_.entry->args.size(); ++i) {
      if (argument_name(task_.entry->args[i]) == name) return &function_.parameters[i];
    }
    return nullptr;
  }

  Result<std::string> tensor_argument(const model::TensorSpec& tensor, bool output) const {
    const syntax::Parameter* parameter = parameter_of(tensor.name);
    if (parameter == nullptr) {
      return fail(ErrorCode::invalid_argument, "entry.args lacks " + tensor.name + ", which the kernel must be given");
    }
    const std::string wanted = canonical_type(tensor.dtype);
    const bool pointer = tensor.shape.has_value() || output;
    const bool fits = parameter->value_type == wanted || same_meaning(parameter->value_type, wanted);
    if (wanted.empty() || !fits || parameter->pointer_depth != (pointer ? 1 : 0)) {
      return fail(ErrorCode::invalid_argument, "parameter " + parameter->name + " of " + function_.name + " is a " +
                                                   parameter->type + "; " + tensor.name + " of the task is " +
                                                   std::string(model::to_string(tensor.dtype)) +
                                                   (pointer ? " elements" : ""));
    }
    if (!pointer || parameter->value_type == wanted || parameter->value_type == "_Bool") return parameter->name;
    const std::string type = std::string(output ? "" : "const ") + std::string(model::c_name(tensor.dtype)) + "*";
    return language_ == Language::c ? "(" + type + ")" + parameter->name
                                    : "reinterpret_cast<" + type + ">(" + parameter->name + ")";
  }

  std::string constants_hold() const {
    std::string condition;
    for (const model::Axis& axis : task_.definition.axes) {
      const syntax::Parameter* parameter = axis.value ? parameter_of(axis.name) : nullptr;
      if (parameter == nullptr) continue;
      condition += (condition.empty() ? "" : " && ") + parameter->name + " == " + std::to_string(*axis.value);
    }
    return condition;
  }

  const model::Task& task_;
  const syntax::Function& function_;
  Language language_;
};

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

/// Start of the comment lines right above the definition, or of its own line.
std::size_t block_place(const Place& place) {
  const std::string& source = place.unit.source;
  std::size_t line = source.rfind('\n', place.begin);
  line = line == std::string::npos ? 0 : line + 1;
  while (line > 0) {
    const std::size_t previous_end = line - 1;
    const std::size_t newline = previous_end == 0 ? std::string::npos : source.rfind('\n', previous_end - 1);
    const std::size_t previous = newline == std::string::npos ? 0 : newline + 1;
    const std::size_t first = source.find_first_not_of(" \t", previous);
    const std::string_view text = std::string_view(source).substr(first, previous_end - std::min(first, previous_end));
    const bool comment = text.starts_with("//") || text.starts_with("/*") || text.starts_with("*");
    if (first >= previous_end || !comment) break;
    line = previous;
  }
  return line;
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

std::string remark(const PatchForm& form) {
  std::string flags;
  for (const std::string& flag : form.flags) flags += " " + flag;
  return "// Made faster by accelopt" + (flags.empty() ? "" : ", measured with" + flags) + ".\n";
}

/// The file beside the user's that holds the winner.
fs::path own_file_of(const fs::path& file, const std::string& function) {
  return file.parent_path() / (plain_name(function) + "_accelopt" + file.extension().string());
}

std::string language_names(Language winner, const std::string& file, Language own) {
  return "the winner is written in " + std::string(model::to_string(winner)) + " and " + file + " in " +
         std::string(model::to_string(own));
}

}  // namespace

Result<PatchedText> replace_entry(const syntax::Clang& clang, const PatchRequest& request,
                                  const std::string& user_source) {
  const model::Task& task = request.task;
  if (!task.entry)
    return fail(ErrorCode::invalid_argument, task.definition.name + " has no [entry], so there is nothing to patch");
  TRY_ASSIGN(const Language language, model::language_of_file(fs::path(task.entry->file).filename().string()));
  if (language != request.winner.language) {
    return fail(ErrorCode::unsupported, language_names(request.winner.language, task.entry->file, language));
  }
  TRY_ASSIGN(const syntax::Unit unit, read_user_file(clang, user_source, language, entry_file(request).parent_path()));
  TRY_ASSIGN(const syntax::Function* const function, find_function(unit, task.entry->function));
  const Place place = place_of(unit, *function);
  Transplant transplant(task, place, request.form);
  TRY_ASSIGN(const std::string block, transplant.block(clang, model::main_text(model::standing_alone(request.winner))));
  TRY_ASSIGN(const std::string body,
             Adapter(task, *function, language).body(transplant.callee(), unit.text(function->body)));

  syntax::Edits edits;
  PatchedText result;
  const bool elsewhere = request.form.flags_by == FlagsBy::own_file;
  const std::string inserted = elsewhere ? transplant.declaration() : block;
  const std::string includes =
      missing_includes(place, elsewhere ? std::vector<std::string>{} : transplant.includes(), inserted, language);
  if (!includes.empty()) edits.insert(include_place(place), includes);
  edits.insert(block_place(place), remark(request.form) + inserted + "\n");
  edits.replace(function->body, body);
  TRY_ASSIGN(result.source, edits.apply(user_source));
  if (elsewhere) {
    syntax::Unit empty;
    empty.language = language;
    const Place top{empty, *function, {}, 0};
    result.own_file =
        remark(request.form) + missing_includes(top, transplant.includes(), block, language) + "\n" + block;
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
  for (const PatchRequest* request : ordered) {
    const fs::path path = entry_file(*request);
    TRY_ASSIGN(PatchedFile* const file, file_at(path));
    TRY_ASSIGN(const Language language, model::language_of_file(path.filename().string()));
    TRY_ASSIGN(const syntax::Unit unit, read_user_file(clang, file->before, language, path.parent_path()));
    TRY_ASSIGN(const syntax::Function* const function, find_function(unit, request->task.entry->function));
    if (!seen.insert({path.string(), function->qualified_name()}).second) {
      return fail(ErrorCode::invalid_argument, "two of the runs made " + function->qualified_name() + " in " +
                                                   path.filename().string() + " faster; name only one of them");
    }
    TRY_ASSIGN(PatchedText text, replace_entry(clang, *request, file->after));
    file->after = std::move(text.source);
    if (text.own_file.empty()) continue;
    patch.files.push_back(
        {own_file_of(path, function->qualified_name()), "", std::move(text.own_file), path, request->form.flags});
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

}  // namespace accelopt::cli
