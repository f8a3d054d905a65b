// SPDX-License-Identifier: Apache-2.0
#include "scaffold/transplant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "model/c_tokens.hpp"
#include "scaffold/entry_content.hpp"
#include "scaffold/inlined_headers.hpp"
#include "scaffold/reduction.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/words.hpp"
#include "syntax/edit.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using model::Language;
using syntax::Extent;

/// Whether what stands in the scope is found without naming it: the top level, and namespaces without a name there.
bool is_seen_everywhere(const std::string& scope) {
  const std::vector<std::string> tokens = model::canonical_tokens(scope);
  return std::all_of(tokens.begin(), tokens.end(),
                     [](const std::string& token) { return token == "namespace" || token == "{"; });
}

/// What task.h calls the compiler's own 16-bit types and their conversions, in the compiler's words.
std::optional<std::string> small_float(const model::Definition& definition, const std::string& name) {
  if (definition.small_floats != model::SmallFloats::native) return std::nullopt;
  static const std::map<std::string, std::string> kNames{
      {"f16_t", "_Float16"}, {"f16_to_float", "(float)"},  {"f16_from_float", "(_Float16)"},
      {"bf16_t", "__bf16"},  {"bf16_to_float", "(float)"}, {"bf16_from_float", "(__bf16)"}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

/// The macros that the text defines or undefines, each once, in the order of the text.
std::vector<std::string> changed_macros(const std::string& text) {
  std::vector<std::string> macros;
  for (const model::Token& token : model::c_tokens(text)) {
    if (token.kind != model::TokenKind::preprocessor) continue;
    const std::vector<Word> line = words(token.text);
    if (line.size() < 2 || (line[0].text != "define" && line[0].text != "undef")) continue;
    if (std::find(macros.begin(), macros.end(), line[1].text) == macros.end()) macros.push_back(line[1].text);
  }
  return macros;
}

/// The text's chunks. C has no scopes: what looks like one is there for C++, behind __cplusplus.
std::vector<Chunk> chunks_in(const std::string& source, Language language) {
  std::vector<Chunk> chunks = top_level_chunks(source);
  for (Chunk& chunk : chunks) {
    if (language == Language::c) chunk.scope.clear();
  }
  return chunks;
}

/// The chunk, with its prefixes and the conditionals around them.
Extent whole_extent(const std::vector<Chunk>& chunks, std::size_t index) {
  return {begin_with_prefixes(chunks, index), chunks[index].extent.end};
}

/// The chunk, with a conditional that holds nothing else.
Extent with_conditional(const std::vector<Chunk>& chunks, std::size_t index) {
  const Extent& own = chunks[index].extent;
  if (index == 0 || index + 1 == chunks.size()) return own;
  const Chunk& before = chunks[index - 1];
  const Chunk& after = chunks[index + 1];
  const bool alone = is_conditional(before) && before.name.starts_with("if") && after.name == "endif";
  return alone ? Extent{before.extent.begin, after.extent.end} : own;
}

}  // namespace

Place place_of(const syntax::Unit& unit, const syntax::Function& function) {
  Place place{unit, function, chunks_in(unit.source, unit.language), function.extent.begin};
  std::size_t outermost = std::string::npos;
  std::vector<std::size_t> conditionals;  // begins of those that are open
  std::vector<std::size_t> around;        // those around the outermost block's begin
  for (std::size_t i = 0; i < place.chunks.size(); ++i) {
    const Chunk& chunk = place.chunks[i];
    if (chunk.kind == Chunk::Kind::opening && chunk.scope.empty()) {
      outermost = chunk.extent.begin;
      around = conditionals;
    }
    if (is_conditional(chunk) && chunk.name.starts_with("if")) conditionals.push_back(chunk.extent.begin);
    if (is_conditional(chunk) && chunk.name == "endif" && !conditionals.empty()) conditionals.pop_back();
    if (!chunk.extent.contains(function.body)) continue;
    if (chunk.scope.empty()) {
      place.begin = begin_with_prefixes(place.chunks, i);
    } else {  // before a conditional that holds no more than the block's begin
      const auto ended = std::mismatch(around.begin(), around.end(), conditionals.begin(), conditionals.end()).first;
      place.begin = ended == around.end() ? outermost : *ended;
    }
    break;
  }
  return place;
}

std::vector<HeaderChunk> header_chunks(const syntax::Clang& clang, const Place& place, const HeaderFolders& folders) {
  std::string lines;
  for (const Chunk& chunk : place.chunks) {
    const bool before = chunk.extent.begin < place.begin && chunk.scope.empty();
    if (before && chunk.kind == Chunk::Kind::include) lines += std::string(place.unit.text(chunk.extent)) + "\n";
  }
  const std::string text = with_headers(clang, lines, place.unit.language, folders);
  std::vector<HeaderChunk> all;
  const std::vector<Chunk> chunks = chunks_in(text, place.unit.language);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Extent whole = whole_extent(chunks, i);
    all.push_back({chunks[i], model::canonical_tokens(text.substr(whole.begin, whole.size()))});
  }
  return all;
}

Transplant::Transplant(const model::Task& task, const Place& place, PatchForm form)
    : task_(task),
      place_(place),
      form_(std::move(form)),
      language_(place.unit.language),
      prefix_(plain_name(place.function.qualified_name()) + "_accelopt") {}

std::string Transplant::kernel_name() const {
  return language_ == Language::c ? prefix_ + "_kernel" : "::" + prefix_ + "::" + scope_ + "kernel";
}

std::string Transplant::callee() const {
  if (form_.flags_by != FlagsBy::own_file) return kernel_name();
  return language_ == Language::c ? prefix_ + "_call" : "::" + prefix_ + "::call";
}

std::string Transplant::declaration() const {
  if (language_ == Language::c) return "void " + prefix_ + "_call" + parameters_ + ";\n";
  return "namespace " + prefix_ + " {\nvoid call" + parameters_ + ";\n}\n";
}

Result<std::string> Transplant::block(const syntax::Clang& clang, const std::string& winner) {
  const std::string header = targets::cpu::kernel_header(task_.definition);
  TRY_ASSIGN(const syntax::Unit original, read_unit(clang, winner, language_, {{"task.h", header}}));
  const std::string numbered = with_numbers(original);
  std::optional<syntax::Unit> changed;
  if (numbered != winner) {
    TRY_ASSIGN(changed, read_unit(clang, numbered, language_, {{"task.h", header}}));
  }
  const syntax::Unit& unit = changed ? *changed : original;
  const syntax::Function* const kernel = unit.find("kernel");
  if (kernel == nullptr) {
    return fail(ErrorCode::unsupported, "the winner defines no function kernel; it cannot be put into another file");
  }
  scope_ = kernel->scope;
  const std::string_view header_text = unit.text({kernel->extent.begin, kernel->body.begin});
  const std::size_t open = header_text.find('(', header_text.find("kernel"));
  for (const syntax::Parameter& parameter : kernel->parameters) {
    arguments_ += (arguments_.empty() ? "" : ", ") + parameter.name;
  }
  parameters_ = header_text.substr(open, header_text.rfind(')') + 1 - open);
  TRY_ASSIGN(const std::string body, take_apart(unit));
  return wrapped(body);
}

/// The task's constant axes as numbers, and names of task.h for types as the compiler's, except where a function has a
/// variable of that name.
std::string Transplant::with_numbers(const syntax::Unit& unit) const {
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
    if (const auto small = small_float(task_.definition, word.text)) return small;
    const auto constant = word.is_number || word.is_qualified ? constants.end() : constants.find(word.text);
    if (constant == constants.end()) return std::nullopt;
    if (shadowed.contains(word.text) && in_function(word.offset) && !meant.contains(word.offset)) return std::nullopt;
    return std::to_string(constant->second);
  });
}

/// A constant axis: numbers stand in its place.
bool Transplant::is_constant(const std::string& name) const {
  return std::any_of(task_.definition.axes.begin(), task_.definition.axes.end(),
                     [&](const model::Axis& axis) { return axis.value && axis.name == name; });
}

/// Whether the preprocessor line says what the file's build says already.
bool Transplant::is_of_build(std::string_view text) const {
  const std::vector<std::string> own = model::canonical_tokens(text);
  return std::any_of(place_.macros.begin(), place_.macros.end(),
                     [&](const std::string& option) { return model::canonical_tokens(macro_line(option)) == own; });
}

/// Whether the user's file has the very same thing before the function.
bool Transplant::has_already(const Chunk& chunk, std::string_view text) const {
  if (form_.flags_by == FlagsBy::own_file) return false;
  const std::vector<std::string> wanted = model::canonical_tokens(text);
  for (std::size_t i = 0; i < place_.chunks.size(); ++i) {
    const Chunk& own = place_.chunks[i];
    if (own.kind == chunk.kind && own.extent.end <= place_.begin && is_seen_everywhere(chunk.scope) &&
        model::canonical_tokens(own.scope) == model::canonical_tokens(chunk.scope) &&
        model::canonical_tokens(place_.unit.text(whole_extent(place_.chunks, i))) == wanted) {
      return true;
    }
  }
  return false;
}

/// Whether the winner defines the macro more than once, or the user's file says something of it before the function.
bool Transplant::is_redefined(const std::string& macro) const {
  const auto found = definitions_.find(macro);
  if (found != definitions_.end() && found->second > 1) return true;
  return std::any_of(place_.chunks.begin(), place_.chunks.end(), [&](const Chunk& own) {
    const bool changes = own.kind == Chunk::Kind::define || own.name == "undef";
    return changes && own.extent.end <= place_.begin && has_word(place_.unit.text(own.extent), macro);
  });
}

/// Whether a header that the user's file includes before the function has the very same thing, which then stays in one
/// place. A function that flags in pragmas are for is not looked for: GCC would not inline the header's.
bool Transplant::is_of_header(const Chunk& chunk, std::string_view text) const {
  if (form_.flags_by == FlagsBy::own_file || !is_seen_everywhere(chunk.scope)) return false;
  if (chunk.kind == Chunk::Kind::function && form_.flags_by == FlagsBy::pragmas) return false;
  if (chunk.kind == Chunk::Kind::define && is_redefined(chunk.name)) return false;
  const std::vector<std::string> wanted = model::canonical_tokens(text);
  const std::vector<std::string> scope = model::canonical_tokens(chunk.scope);
  return std::any_of(place_.of_headers.begin(), place_.of_headers.end(), [&](const HeaderChunk& other) {
    return other.chunk.kind == chunk.kind && other.tokens == wanted &&
           model::canonical_tokens(other.chunk.scope) == scope;
  });
}

/// Whether the user's file has the very same thing, which means the same there: it names nothing that the winner
/// changes.
bool Transplant::is_in_place(const Chunk& chunk, std::string_view text) const {
  if (!has_already(chunk, text) && !is_of_header(chunk, text)) return false;
  const std::vector<Word> all = words(text);
  return std::none_of(all.begin(), all.end(), [&](const Word& word) { return changed_names_.contains(word.text); });
}

/// Leaves out includes, directives and what the user's file already has; frees the kernel of its C linkage.
Result<std::string> Transplant::take_apart(const syntax::Unit& unit) {
  syntax::Edits edits;
  const std::vector<Chunk> chunks = chunks_in(unit.source, language_);
  std::vector<bool> c_blocks;
  std::vector<Declared> prototypes;  // of functions that the winner defines itself
  for (const Chunk& chunk : chunks) {
    if (chunk.kind == Chunk::Kind::define) ++definitions_[chunk.name];
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    const std::string_view text = unit.text(chunk.extent);
    if (chunk.kind == Chunk::Kind::include) {
      if (chunk.name != "\"task.h\"") includes_.push_back(chunk.name);
      edits.replace(chunk.extent, "");
    } else if (chunk.kind == Chunk::Kind::opening) {
      c_blocks.push_back(text.starts_with("extern"));
      if (c_blocks.back()) edits.replace(with_conditional(chunks, i), "");
    } else if (chunk.kind == Chunk::Kind::closing) {
      if (!c_blocks.empty() && c_blocks.back()) edits.replace(with_conditional(chunks, i), "");
      if (!c_blocks.empty()) c_blocks.pop_back();
    } else if (chunk.kind == Chunk::Kind::define) {
      if (is_constant(chunk.name) || is_of_build(text) || has_already(chunk, text) || is_of_header(chunk, text)) {
        edits.replace(chunk.extent, "");
      } else {
        changed_names_.insert(chunk.name);
      }
    } else if (chunk.kind == Chunk::Kind::preprocessor) {
      if (is_of_build(text)) edits.replace(chunk.extent, "");
      has_pragmas_ = has_pragmas_ || text.find("GCC") != std::string_view::npos;
    } else if (chunk.kind != Chunk::Kind::prefix) {  // which goes with what it is a prefix of
      const Declared one{chunk, whole_extent(chunks, i), function_of(unit, chunk)};
      const bool is_prototype = one.function != nullptr && chunk.kind == Chunk::Kind::declaration;
      if (is_prototype) prototypes.push_back(one);
      if (!is_prototype) free_declaration(unit, one, edits);
    }
  }
  for (const Declared& one : prototypes) {  // the definition is what counts
    if (already_there_.contains(one.function->name)) edits.replace(one.whole, "");
    if (!already_there_.contains(one.function->name)) free_linkage(unit, one, edits);
  }
  TRY_ASSIGN(const std::string freed, edits.apply(unit.source));
  return tidied(language_ == Language::c ? with_prefixes(freed, unit) : freed);
}

void Transplant::free_declaration(const syntax::Unit& unit, const Declared& one, syntax::Edits& edits) {
  const bool is_function = one.function != nullptr;
  const bool is_kernel = is_function && one.function->name == "kernel";
  if (!is_kernel && is_in_place(one.chunk, unit.text(one.whole))) {
    edits.replace(one.whole, "");
    if (is_function) already_there_.insert(one.function->name);
    return;
  }
  if (is_function) changed_names_.insert(one.function->name);
  if (!is_function) changed_names_.merge(declared_names(unit.text(one.chunk.extent)));
  free_linkage(unit, one, edits);
}

/// A function of the winner's own is static, and so is its prototype.
void Transplant::free_linkage(const syntax::Unit& unit, const Declared& one, syntax::Edits& edits) const {
  const std::string_view text = unit.text(one.chunk.extent);
  const bool is_kernel = one.function != nullptr && one.function->name == "kernel";
  std::size_t linkage = 0;
  if (text.starts_with("extern")) {
    const std::size_t quote = text.find("\"C\"");
    linkage = quote == std::string_view::npos ? 0 : text.find_first_not_of(" \t\r\n", quote + 3);
    if (linkage == 0 && one.function != nullptr && language_ == Language::c)
      linkage = std::string_view("extern").size();
  }
  const std::string_view rest = text.substr(linkage);
  const std::string_view prefix = unit.text({one.whole.begin, one.chunk.extent.begin});
  const bool is_local = rest.starts_with("static") || rest.starts_with("template") || rest.starts_with("inline") ||
                        rest.starts_with("constexpr") || has_word(prefix, "static") || has_word(prefix, "inline");
  const bool wants_static = one.function != nullptr && !is_local && (is_kernel || language_ == Language::c);
  if (wants_static) edits.insert(one.whole.begin, prefix.starts_with('#') ? "static\n" : "static ");
  edits.replace({one.chunk.extent.begin, one.chunk.extent.begin + linkage}, "");
}

/// The function that the chunk defines; in C, also one that it declares and the winner defines. Null: none.
const syntax::Function* Transplant::function_of(const syntax::Unit& unit, const Chunk& chunk) const {
  const std::string_view text = unit.text(chunk.extent);
  const bool may_declare = chunk.kind == Chunk::Kind::declaration && language_ == Language::c &&
                           !text.starts_with("typedef") && text.find('(') != std::string_view::npos;
  if (chunk.kind != Chunk::Kind::function && !may_declare) return nullptr;
  const std::vector<std::string> names = may_declare ? names_declared_by(text) : std::vector<std::string>{};
  const auto found = std::find_if(unit.functions.begin(), unit.functions.end(), [&](const syntax::Function& one) {
    return may_declare ? std::find(names.begin(), names.end(), one.name) != names.end()
                       : chunk.extent.contains(one.body);
  });
  return found == unit.functions.end() ? nullptr : &*found;
}

/// In C, which has no namespaces, every function of the winner gets the prefix.
std::string Transplant::with_prefixes(const std::string& text, const syntax::Unit& unit) const {
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
bool Transplant::repeats_comment(std::string_view line) const {
  if (!line.starts_with("//")) return false;
  const std::string& source = place_.unit.source;
  const std::size_t at = source.find(line);
  return at != std::string::npos && (at == 0 || source[at - 1] == '\n') && source.substr(at + line.size(), 1) == "\n";
}

/// Without directives, without `init`'s own remark and the function's own comments, without runs of empty lines.
std::string Transplant::tidied(const std::string& text) const {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool empty = first == std::string_view::npos;
    const bool ours = line.starts_with("// Made by accelopt init") || line.starts_with("// SPDX-License-Identifier") ||
                      repeats_comment(line);
    const bool directive = !empty && line.substr(first).starts_with("//@");
    const bool second_empty = empty && (result.empty() || result.ends_with("\n\n"));
    if (!ours && !directive && !second_empty) result += std::string(line) + "\n";
    at = end + 1;
  }
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

/// The block that goes before the function: nothing of it reaches the rest of the file.
std::string Transplant::wrapped(const std::string& body) const {
  std::string before;
  std::string after;
  for (const std::string& macro : changed_macros(body)) {
    // Whether the file knows the macro is not to be seen: headers define macros, too.
    before += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", macro);
    after += fmt::format("#undef {0}\n#pragma pop_macro(\"{0}\")\n", macro);
  }
  const std::string pragmas = form_.flags_by == FlagsBy::pragmas ? flag_pragmas(form_.flags) : "";
  if (has_pragmas_ || !pragmas.empty()) {
    before += "#pragma GCC push_options\n" + pragmas;
    after.insert(0, "#pragma GCC pop_options\n");
  }
  std::string call;
  if (form_.flags_by == FlagsBy::own_file) {
    call = std::string("\nvoid ") + (language_ == Language::c ? prefix_ + "_call" : "call") + parameters_ + " {\n  " +
           kernel_name() + "(" + arguments_ + ");\n}\n";
  }
  if (language_ == Language::c) return before + body + call + after;
  return before + "namespace " + prefix_ + " {\n\n" + body + call + "\n}  // namespace " + prefix_ + "\n" + after;
}

std::string flag_pragmas(const std::vector<std::string>& flags) {
  std::string optimize;
  std::string target;
  for (const std::string& flag : flags) {
    if (flag.starts_with("-march=") || flag.starts_with("-mtune=")) continue;
    if (flag.starts_with("-m")) target += (target.empty() ? "\"" : ", \"") + flag.substr(2) + "\"";
    if (flag.starts_with("-f")) optimize += (optimize.empty() ? "\"" : ", \"") + flag.substr(2) + "\"";
    if (flag.starts_with("-O")) optimize += (optimize.empty() ? "\"" : ", \"") + flag.substr(1) + "\"";
  }
  return (optimize.empty() ? "" : "#pragma GCC optimize(" + optimize + ")\n") +
         (target.empty() ? "" : "#pragma GCC target(" + target + ")\n");
}

}  // namespace accelopt::scaffold
