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

/// The user's file around the function.
struct Place {
  const syntax::Unit& unit;
  const syntax::Function& function;
  std::vector<Chunk> chunks;
  std::size_t begin = 0;    ///< of the whole definition, with attributes and `extern "C"`
  bool in_c_block = false;  ///< inside of `extern "C" { }`
};

Place place_of(const syntax::Unit& unit, const syntax::Function& function) {
  Place place{unit, function, top_level_chunks(unit.source), function.extent.begin};
  std::vector<bool> blocks;
  for (const Chunk& chunk : place.chunks) {
    if (chunk.kind == Chunk::Kind::opening) blocks.push_back(unit.text(chunk.extent).starts_with("extern"));
    if (chunk.kind == Chunk::Kind::closing && !blocks.empty()) blocks.pop_back();
    if (!chunk.extent.contains(function.extent)) continue;
    place.begin = chunk.extent.begin;
    place.in_c_block = std::find(blocks.begin(), blocks.end(), true) != blocks.end();
    break;
  }
  return place;
}

/// The winner's text on its way into the user's file.
class Transplant {
 public:
  Transplant(const model::Task& task, const Place& place, Language language, std::string prefix)
      : task_(task), place_(place), language_(language), prefix_(std::move(prefix)) {}

  /// @error unsupported: what clashes.
  Result<std::string> block(const syntax::Clang& clang, const std::string& winner) {
    const std::string header = targets::cpu::kernel_header(task_.definition);
    TRY_ASSIGN(const syntax::Unit original, read_unit(clang, winner, language_, {{"task.h", header}}));
    const std::string numbered = with_numbers(original);
    TRY_ASSIGN(const syntax::Unit unit, read_unit(clang, numbered, language_, {{"task.h", header}}));
    if (unit.find("kernel") == nullptr) {
      return fail(ErrorCode::unsupported, "the winner defines no function kernel; it cannot be put into another file");
    }
    TRY_ASSIGN(const std::string body, take_apart(unit));
    return wrapped(body);
  }

  const std::vector<std::string>& includes() const { return includes_; }

  /// How the function calls the winner.
  std::string callee() const { return language_ == Language::c ? prefix_ + "_kernel" : prefix_ + "::kernel"; }

 private:
  /// The task's constant axes as numbers, except where a function has a variable of that name.
  std::string with_numbers(const syntax::Unit& unit) const {
    std::map<std::string, std::int64_t> constants;
    for (const model::Axis& axis : task_.definition.axes) {
      if (axis.value) constants[axis.name] = *axis.value;
    }
    std::set<std::string> shadowed;
    std::set<std::size_t> meant;  // offsets where the name is the task's
    for (const syntax::Function& function : unit.functions) {
      for (const syntax::Parameter& parameter : function.parameters) shadowed.insert(parameter.name);
      for (const syntax::NameUse& use : function.names) {
        if (use.declaration >= 0) shadowed.insert(use.name);
        if (use.declaration < 0) meant.insert(use.extent.begin);
      }
    }
    const auto in_function = [&](std::size_t offset) {
      return std::any_of(unit.functions.begin(), unit.functions.end(), [&](const syntax::Function& function) {
        return offset >= function.extent.begin && offset < function.body.end;
      });
    };
    std::set<std::size_t> macro_names;
    for (const Chunk& chunk : top_level_chunks(unit.source)) {
      if (chunk.kind == Chunk::Kind::define) macro_names.insert(unit.source.find(chunk.name, chunk.extent.begin + 7));
    }
    return change_words(unit.source, [&](const Word& word) -> std::optional<std::string> {
      if (macro_names.contains(word.offset)) return std::nullopt;
      const auto constant = word.is_number || word.is_qualified ? constants.end() : constants.find(word.text);
      if (constant == constants.end()) return std::nullopt;
      if (shadowed.contains(word.text) && in_function(word.offset) && !meant.contains(word.offset)) return std::nullopt;
      return std::to_string(constant->second);
    });
  }

  /// A constant axis: numbers stand in its place.
  bool is_constant(const std::string& name) const {
    return std::any_of(task_.definition.axes.begin(), task_.definition.axes.end(),
                       [&](const model::Axis& axis) { return axis.value && axis.name == name; });
  }

  /// Whether the user's file has the very same thing before the function.
  bool has_already(const Chunk& chunk, std::string_view text) const {
    const std::vector<std::string> wanted = model::canonical_tokens(text);
    return std::any_of(place_.chunks.begin(), place_.chunks.end(), [&](const Chunk& own) {
      return own.kind == chunk.kind && own.extent.end <= place_.begin &&
             model::canonical_tokens(place_.unit.text(own.extent)) == wanted;
    });
  }

  /// Leaves out includes, directives and what the user's file already has; frees the kernel of its C linkage.
  Result<std::string> take_apart(const syntax::Unit& unit) {
    syntax::Edits edits;
    const std::vector<Chunk> chunks = top_level_chunks(unit.source);
    std::vector<bool> c_blocks;
    for (const Chunk& chunk : chunks) {
      const std::string_view text = unit.text(chunk.extent);
      if (chunk.kind == Chunk::Kind::include) {
        if (chunk.name != "\"task.h\"") includes_.push_back(chunk.name);
        edits.replace(chunk.extent, "");
      } else if (chunk.kind == Chunk::Kind::opening) {
        c_blocks.push_back(text.starts_with("extern"));
        if (c_blocks.back()) edits.replace(chunk.extent, "");
      } else if (chunk.kind == Chunk::Kind::closing) {
        if (!c_blocks.empty() && c_blocks.back()) edits.replace(chunk.extent, "");
        if (!c_blocks.empty()) c_blocks.pop_back();
      } else if (chunk.kind == Chunk::Kind::define) {
        if (is_constant(chunk.name) || has_already(chunk, text)) {
          edits.replace(chunk.extent, "");
        } else {
          macros_.push_back(chunk.name);
        }
      } else if (chunk.kind == Chunk::Kind::preprocessor) {
        has_pragmas_ = has_pragmas_ || text.find("GCC") != std::string_view::npos;
      } else {
        TRY(free_declaration(unit, chunk, text, edits));
      }
    }
    TRY_ASSIGN(const std::string freed, edits.apply(unit.source));
    return tidied(language_ == Language::c ? with_prefixes(freed, unit) : freed);
  }

  Result<void> free_declaration(const syntax::Unit& unit, const Chunk& chunk, std::string_view text,
                                syntax::Edits& edits) {
    const auto contains = [&](const syntax::Function& function) { return chunk.extent.contains(function.extent); };
    const auto defined = std::find_if(unit.functions.begin(), unit.functions.end(), contains);
    const bool is_function = chunk.kind == Chunk::Kind::function && defined != unit.functions.end();
    const bool is_kernel = is_function && defined->name == "kernel";
    if (!is_kernel && has_already(chunk, text)) {
      edits.replace(chunk.extent, "");
      if (is_function) already_there_.insert(defined->name);
      return {};
    }
    std::size_t linkage = 0;
    if (text.starts_with("extern")) {
      const std::size_t quote = text.find("\"C\"");
      linkage = quote == std::string_view::npos ? 0 : text.find_first_not_of(" \t\r\n", quote + 3);
    }
    const std::string_view rest = text.substr(linkage);
    const bool is_local = rest.starts_with("static") || rest.starts_with("template") || rest.starts_with("inline") ||
                          rest.starts_with("constexpr");
    const bool wants_static = is_function && !is_local && (is_kernel || language_ == Language::c);
    edits.replace({chunk.extent.begin, chunk.extent.begin + linkage}, wants_static ? "static " : "");
    return {};
  }

  /// In C, which has no namespaces, every function of the winner gets the prefix.
  std::string with_prefixes(const std::string& text, const syntax::Unit& unit) const {
    std::set<std::string> names;
    for (const syntax::Function& function : unit.functions) {
      if (!already_there_.contains(function.name)) names.insert(function.name);
    }
    return change_words(text, [&](const Word& word) -> std::optional<std::string> {
      if (word.is_number || word.is_qualified || !names.contains(word.text)) return std::nullopt;
      return prefix_ + "_" + word.text;
    });
  }

  /// Whether the line is a comment that the user's file has too.
  bool repeats_comment(std::string_view line) const {
    if (!line.starts_with("//")) return false;
    const std::string& source = place_.unit.source;
    const std::size_t at = source.find(line);
    return at != std::string::npos && (at == 0 || source[at - 1] == '\n') && source.substr(at + line.size(), 1) == "\n";
  }

  /// Without directives, without `init`'s own remark and the function's own comments, without runs of empty lines.
  std::string tidied(const std::string& text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const std::size_t first = line.find_first_not_of(" \t\r");
      const bool empty = first == std::string_view::npos;
      const bool ours = line.starts_with("// Made by accelopt init") ||
                        line.starts_with("// SPDX-License-Identifier") || repeats_comment(line);
      const bool directive = !empty && line.substr(first).starts_with("//@");
      const bool second_empty = empty && (result.empty() || result.ends_with("\n\n"));
      if (!ours && !directive && !second_empty) result += std::string(line) + "\n";
      at = end + 1;
    }
    while (result.ends_with("\n\n")) result.pop_back();
    return result;
  }

  /// The block that goes before the function: nothing of it reaches the rest of the file.
  std::string wrapped(const std::string& body) const {
    std::string before;
    std::string after;
    for (const std::string& macro : macros_) {
      if (has_word(place_.unit.source, macro)) {
        before += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", macro);
        after += fmt::format("#undef {0}\n#pragma pop_macro(\"{0}\")\n", macro);
      } else {
        after += "#undef " + macro + "\n";
      }
    }
    if (has_pragmas_) {
      before += "#pragma GCC push_options\n";
      after.insert(0, "#pragma GCC pop_options\n");
    }
    if (language_ == Language::c) return before + body + after;
    const bool linkage = place_.in_c_block;
    return before + (linkage ? "extern \"C++\" {\n" : "") + "namespace " + prefix_ + " {\n\n" + body +
           "\n}  // namespace " + prefix_ + "\n" + (linkage ? "}  // extern \"C++\"\n" : "") + after;
  }

  const model::Task& task_;
  const Place& place_;
  Language language_;
  std::string prefix_;
  std::vector<std::string> includes_;
  std::vector<std::string> macros_;
  std::set<std::string> already_there_;
  bool has_pragmas_ = false;
};

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

fs::path repository_of(const fs::path& file) {
  for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    std::error_code ignored;
    if (fs::exists(folder / ".git", ignored)) return folder;
    if (folder == folder.root_path()) break;
  }
  return file.parent_path();
}

std::string remark(const model::Solution& winner) {
  std::string flags = "-O3 -march=native";
  if (const auto directives = model::parse_cpu_directives(model::main_text(winner))) {
    for (const std::string& flag : directives->flags) flags += " " + flag;
  }
  return "// Made faster by accelopt, measured with " + flags + ".\n";
}

}  // namespace

Result<std::string> replace_entry(const syntax::Clang& clang, const model::Task& task, const model::Solution& winner,
                                  const std::string& user_source) {
  if (!task.entry)
    return fail(ErrorCode::invalid_argument, task.definition.name + " has no [entry], so there is nothing to patch");
  TRY_ASSIGN(const Language language, model::language_of_file(fs::path(task.entry->file).filename().string()));
  if (language != winner.language) {
    return fail(ErrorCode::unsupported, "the winner is written in " + std::string(model::to_string(winner.language)) +
                                            " and " + task.entry->file + " in " +
                                            std::string(model::to_string(language)));
  }
  TRY_ASSIGN(const syntax::Unit unit, read_unit(clang, user_source, language));
  TRY_ASSIGN(const syntax::Function* const function, find_function(unit, task.entry->function));
  const Place place = place_of(unit, *function);
  Transplant transplant(task, place, language, function->name + "_accelopt");
  TRY_ASSIGN(const std::string block, transplant.block(clang, model::main_text(model::standing_alone(winner))));
  TRY_ASSIGN(const std::string body,
             Adapter(task, *function, language).body(transplant.callee(), unit.text(function->body)));

  syntax::Edits edits;
  const std::string includes = missing_includes(place, transplant.includes(), block, language);
  if (!includes.empty()) edits.insert(include_place(place), includes);
  edits.insert(block_place(place), remark(winner) + block + "\n");
  edits.replace(function->body, body);
  TRY_ASSIGN(const std::string patched, edits.apply(user_source));

  TRY_ASSIGN(const syntax::Unit result, read_unit(clang, patched, language));
  if (result.errors.size() > unit.errors.size()) {
    const auto& fresh = result.errors[std::min(unit.errors.size(), result.errors.size() - 1)];
    return fail(ErrorCode::unsupported, task.entry->file + " cannot take the winner as it is: line " +
                                            std::to_string(fresh.line) + " of the patched file: " + fresh.message +
                                            "; put the kernel in by hand, or rename what clashes");
  }
  return patched;
}

Result<std::string> make_winner_patch(const model::Task& task, const model::Solution& winner,
                                      const fs::path& task_folder) {
  if (!task.entry)
    return fail(ErrorCode::invalid_argument, task.definition.name + " has no [entry], so there is nothing to patch");
  std::error_code ignored;
  const fs::path file = fs::weakly_canonical(fs::absolute(task_folder / task.entry->file), ignored);
  TRY_ASSIGN(const std::string source, base::read_file(file));
  TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
  TRY_ASSIGN(const std::string patched, replace_entry(clang, task, winner, source));
  const std::string path = file.lexically_relative(repository_of(file)).generic_string();
  return base::unified_diff(source, patched, "a/" + path, "b/" + path);
}

}  // namespace accelopt::cli
