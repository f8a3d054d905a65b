// SPDX-License-Identifier: Apache-2.0
#include "scaffold/winner_patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/files.hpp"
#include "base/unified_diff.hpp"
#include "model/c_tokens.hpp"
#include "model/directives.hpp"
#include "model/tuning.hpp"
#include "scaffold/entry_content.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/parameter_type.hpp"
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
std::string canonical_type(DType dtype, model::SmallFloats small_floats) {
  const bool native = small_floats == model::SmallFloats::native;
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
    case DType::uint64:
      return "unsigned long";
    case DType::uint32:
      return "unsigned int";
    case DType::uint16:
      return "unsigned short";
    case DType::uint8:
      return "unsigned char";
    case DType::float16:
      return native ? "_Float16" : "";
    case DType::bfloat16:
      return native ? "__bf16" : "";
    case DType::boolean:
      return "bool";
    default:
      return "";
  }
}

/// Types of one size and meaning that differ in name alone.
bool same_meaning(const std::string& own, const std::string& wanted) {
  return (own == "long long" && wanted == "long") || (own == "unsigned long long" && wanted == "unsigned long") ||
         (own == "char" && wanted == "signed char") || (own == "_Bool" && wanted == "bool");
}

/// The call of the winner with the function's own arguments, and the condition under which its constants hold.
class Adapter {
 public:
  Adapter(const model::Task& task, const syntax::Unit& unit, const syntax::Function& function)
      : task_(task), unit_(unit), function_(function), language_(unit.language) {}

  Result<std::string> body(const std::string& callee, std::string_view old_body) const {
    if (function_.parameters.size() != task_.entry->args.size()) {
      return fail(ErrorCode::invalid_argument, function_.name + " has " + std::to_string(function_.parameters.size()) +
                                                   " parameters and entry.args names " +
                                                   std::to_string(task_.entry->args.size()) +
                                                   "; bring entry.args in line with the function");
    }
    std::string arguments;
    std::string result;  // what the function returns, as a local
    for (const auto* tensors : {&task_.definition.inputs, &task_.definition.outputs}) {
      for (const model::TensorSpec& tensor : *tensors) {
        if (tensors == &task_.definition.inputs && !model::is_passed_as_input(tensor)) continue;
        if (tensor.name == task_.entry->returns) {
          result = "accelopt_" + tensor.name;
          arguments += std::string(arguments.empty() ? "" : ", ") + "&" + result;
          continue;
        }
        TRY_ASSIGN(const std::string argument, tensor_argument(tensor, tensors == &task_.definition.outputs));
        arguments += (arguments.empty() ? "" : ", ") + argument;
      }
    }
    for (const std::string& axis : model::variable_axes(task_.definition)) {
      std::set<std::string> divisors;
      const std::string extent = extent_of(axis, divisors);
      if (extent.empty()) {
        return fail(ErrorCode::invalid_argument,
                    "entry.args lacks the variable axis " + axis + ", which the kernel must be given");
      }
      arguments += (arguments.empty() ? "" : ", ") + extent;
    }
    const std::string condition = joined(constants_hold(), sizes_hold());
    const std::string indent = condition.empty() ? "  " : "    ";
    const std::string declared = result.empty() ? "" : function_.return_type + " " + result + " = 0;\n" + indent;
    const std::string call = indent + declared + callee + "(" + arguments + ");\n";
    const std::string back = result.empty() ? "" : indent + "return " + result + ";\n";
    if (condition.empty()) return "{\n" + call + back + "}";
    return "{\n  if (" + condition + ") {\n" + call + (back.empty() ? "    return;\n" : back) + "  }" +
           std::string(old_body.substr(1));
  }

 private:
  static std::string joined(const std::string& one, const std::string& other) {
    return one + (one.empty() || other.empty() ? "" : " && ") + other;
  }

  /// The axes of a tensor whose parameter is a container, without those that a struct's members make; none: it is none.
  std::optional<std::vector<std::string>> axes_of_container(const model::TensorSpec& tensor) const {
    const syntax::Parameter* const parameter = parameter_of(tensor.name);
    if (parameter == nullptr || !tensor.shape) return std::nullopt;
    const ParameterType type = type_of(unit_, *parameter);
    if (type.form != ParameterForm::container) return std::nullopt;
    std::vector<std::string> axes = *tensor.shape;
    if (type.fields > 0 && !axes.empty()) axes.pop_back();
    return axes;
  }

  /// Calls `visit` with each container's parameter and axes, until it returns true.
  template <class Visit>
  void for_containers(Visit visit) const {
    for (const auto* tensors : {&task_.definition.inputs, &task_.definition.outputs}) {
      for (const model::TensorSpec& tensor : *tensors) {
        if (tensors == &task_.definition.inputs && tensor.inout) continue;
        if (const auto axes = axes_of_container(tensor)) visit(*parameter_of(tensor.name), *axes);
      }
    }
  }

  /// The axis as the function knows it without looking at sizes; empty: it does not.
  std::string plain_extent(const std::string& name) const {
    const syntax::Parameter* const parameter = parameter_of(name);
    if (parameter != nullptr) return parameter->name;
    for (const model::Axis& axis : task_.definition.axes) {
      if (axis.name == name && axis.value) return std::to_string(*axis.value);
    }
    return "";
  }

  /// The axis as the function's arguments give it: by itself, or by a container's size and the other axes. What is
  /// divided by goes to `divisors`.
  std::string extent_of(const std::string& axis, std::set<std::string>& divisors,
                        std::set<std::string> open = {}) const {
    std::string extent = plain_extent(axis);
    if (!extent.empty() || !open.insert(axis).second) return extent;
    for_containers([&](const syntax::Parameter& parameter, const std::vector<std::string>& axes) {
      if (!extent.empty() || std::count(axes.begin(), axes.end(), axis) != 1) return;
      std::string text = signed_size(parameter);
      std::set<std::string> others;
      for (const std::string& other : axes) {
        if (other == axis) continue;
        const std::string divisor = extent_of(other, divisors, open);
        if (divisor.empty()) return;
        others.insert(divisor);
        text += " / " + (divisor.find('/') == std::string::npos ? divisor : "(" + divisor + ")");
      }
      divisors.insert(others.begin(), others.end());
      extent = text;
    });
    return extent;
  }

  static std::string signed_size(const syntax::Parameter& parameter) {
    return "static_cast<int64_t>(" + parameter.name + ".size())";
  }

  /// That every container has as many elements as its axes say: else the kernel would go beyond it.
  std::string sizes_hold() const {
    std::string condition;
    std::set<std::string> divisors;
    for_containers([&](const syntax::Parameter& parameter, const std::vector<std::string>& axes) {
      std::string product;
      for (const std::string& axis : axes) {
        const std::string extent = extent_of(axis, divisors);
        product +=
            (product.empty() ? "" : " * ") + (extent.find('/') == std::string::npos ? extent : "(" + extent + ")");
      }
      const std::string size = signed_size(parameter);
      if (size != product) condition = joined(condition, size + " == " + product);
    });
    std::string divisible;
    for (const std::string& divisor : divisors) {
      const bool is_number = divisor.find_first_not_of("0123456789") == std::string::npos;
      if (!is_number) divisible = joined(divisible, divisor + " != 0");
    }
    return joined(divisible, condition);
  }

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
    const std::string wanted = canonical_type(tensor.dtype, task_.definition.small_floats);
    const bool pointer = tensor.shape.has_value() || output;
    const ParameterType own = type_of(unit_, *parameter);
    const bool fits = own.element == wanted || same_meaning(own.element, wanted);
    const bool is_pointer = own.form != ParameterForm::value && own.form != ParameterForm::other;
    if (wanted.empty() || !fits || pointer != is_pointer || own.form == ParameterForm::other) {
      return fail(ErrorCode::invalid_argument, "parameter " + parameter->name + " of " + function_.name + " is a " +
                                                   parameter->type + "; " + tensor.name + " of the task is " +
                                                   std::string(model::to_string(tensor.dtype)) +
                                                   (pointer ? " elements" : ""));
    }
    const std::string first = first_element(own, parameter->name);
    if (!pointer || (own.record.empty() && (own.element == wanted || own.element == "_Bool"))) return first;
    const std::string type = own.record.empty() ? std::string(model::c_name(tensor.dtype)) : own.element;
    return cast_pointer(std::string(output ? "" : "const ") + type + "*", first, language_);
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
  const syntax::Unit& unit_;
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

/// That the function, and what it uses in the file, are still those that the task was made from: a winner does what
/// these did.
Result<void> check_content(const syntax::Clang& clang, const model::Entry& entry, const std::string& source,
                           Language language, const fs::path& file) {
  if (entry.content.empty()) return {};
  TRY_ASSIGN(const std::string now, content_of(clang, source, language, entry.function, header_folders_of(file)));
  // Winners that stand there already are no change of the user's.
  if (now == entry.content || source.find("accelopt") != std::string::npos) return {};
  return fail(ErrorCode::invalid_argument,
              entry.function + " in " + file.filename().string() +
                  ", or what it uses there, was changed after the task was made, and a winner would undo the change; "
                  "make the task again with accelopt init, and search there");
}

}  // namespace

Result<PatchedText> replace_entry(const syntax::Clang& clang, const PatchRequest& request,
                                  const std::string& user_source) {
  const model::Task& task = request.task;
  if (!task.entry)
    return fail(ErrorCode::invalid_argument, task.definition.name + " has no [entry], so there is nothing to patch");
  if (const FileForm form = form_of(user_source); form.has_mark || form.has_returns) {
    TRY_ASSIGN(PatchedText patched, replace_entry(clang, request, plain_text(user_source)));
    return PatchedText{in_form(patched.source, form), in_form(patched.own_file, {false, form.has_returns})};
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
  Transplant transplant(task, place, request.form);
  TRY_ASSIGN(const std::string block, transplant.block(clang, model::main_text(model::standing_alone(request.winner))));
  TRY_ASSIGN(const std::string body,
             Adapter(task, unit, *function).body(transplant.callee(), unit.text(function->body)));

  syntax::Edits edits;
  PatchedText result;
  const bool elsewhere = request.form.flags_by == FlagsBy::own_file;
  const std::string inserted = elsewhere ? transplant.declaration() : block;
  const std::string includes = missing_includes(place, elsewhere ? std::vector<std::string>{} : transplant.includes(),
                                                inserted + body, language);
  const std::string made = remark(request.form) + inserted + "\n";
  const std::size_t at = block_place(place);
  if (include_place(place) < at) {
    if (!includes.empty()) edits.insert(include_place(place), includes);
    edits.insert(at, made);
  } else {  // the file begins with the function's comment
    edits.insert(at, includes + (includes.empty() ? "" : "\n") + made);
  }
  edits.replace(function->body, body);
  TRY_ASSIGN(result.source, edits.apply(user_source));
  if (elsewhere) {
    syntax::Unit empty;
    empty.language = language;
    const Place top{empty, *function, {}, 0, {}};
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
  std::vector<std::string> functions;  // of `ordered`, in full
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
    functions.push_back(function->qualified_name());
  }
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const PatchRequest* const request = ordered[i];
    const fs::path path = entry_file(*request);
    TRY_ASSIGN(PatchedFile* const file, file_at(path));
    TRY_ASSIGN(const Language language, model::language_of_file(path.filename().string()));
    TRY(check_content(clang, *request->task.entry, file->before, language, path));
    // Winners that are already in the file may hold functions of the same name.
    model::Task named = request->task;
    named.entry->function = functions[i];
    TRY_ASSIGN(PatchedText text,
               replace_entry(clang, {named, request->winner, request->task_folder, request->form}, file->after));
    file->after = std::move(text.source);
    if (text.own_file.empty()) continue;
    patch.files.push_back({own_file_of(path, functions[i]), "", std::move(text.own_file), path, request->form.flags});
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
