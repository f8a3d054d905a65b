// SPDX-License-Identifier: Apache-2.0
#include "scaffold/scaffold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"
#include "scaffold/bit_tricks.hpp"
#include "scaffold/drawn_values.hpp"
#include "scaffold/entry_content.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/index_ranges.hpp"
#include "scaffold/kernel_text.hpp"
#include "scaffold/null_tests.hpp"
#include "scaffold/openmp.hpp"
#include "scaffold/operator_task.hpp"
#include "scaffold/own_precision.hpp"
#include "scaffold/reach.hpp"
#include "scaffold/real_source.hpp"
#include "scaffold/signature.hpp"
#include "scaffold/task_toml.hpp"
#include "scaffold/unknown_extents.hpp"
#include "scaffold/words.hpp"
#include "suites/init_check.hpp"
#include "suites/task_folder.hpp"
#include "syntax/edit.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

/// Extent of an axis that nothing states: only for reading the made files, never written.
constexpr std::int64_t kAnyExtent = 64;

/// The folder's files before they are written.
struct Draft {
  std::string extension;
  std::string baseline;
  std::string reference;
  std::string toml;
  model::Task task;
  std::vector<std::string> open;
  std::vector<std::string> notes;
};

/// The definition as far as it is stated, with kAnyExtent for what is open: enough for the headers that the files
/// include.
model::Definition definition_of(const Signature& signature) {
  model::Definition definition;
  for (const KernelAxis& axis : signature.axes) {
    definition.axes.push_back(
        {axis.name, axis.is_variable ? std::nullopt : std::optional(axis.constant.value_or(kAnyExtent))});
  }
  std::vector<model::TensorSpec> inouts;
  std::vector<model::TensorSpec> outputs;
  for (const KernelParameter& parameter : signature.parameters) {
    if (parameter.role == ParameterRole::axis) continue;
    model::TensorSpec tensor;
    tensor.name = parameter.task_name;
    tensor.dtype = parameter.dtype;
    if (parameter.is_tensor) tensor.shape = parameter.shape.value_or(std::vector<std::string>{});
    tensor.inout = parameter.role == ParameterRole::inout;
    tensor.ties = parameter.ties;
    const bool small = tensor.dtype == model::DType::float16 || tensor.dtype == model::DType::bfloat16;
    if (small) definition.small_floats = model::SmallFloats::native;
    if (parameter.role != ParameterRole::output) (tensor.inout ? inouts : definition.inputs).push_back(tensor);
    if (parameter.role == ParameterRole::output) outputs.push_back(tensor);
  }
  definition.inputs.insert(definition.inputs.end(), inouts.begin(), inouts.end());
  definition.outputs = inouts;
  definition.outputs.insert(definition.outputs.end(), outputs.begin(), outputs.end());
  for (const TieValues& values : signature.ties) {
    model::TensorSpec tensor;
    tensor.name = values.name;
    tensor.shape = values.shape;
    tensor.dtype = values.dtype;
    definition.ties.push_back(std::move(tensor));
  }
  return definition;
}

model::Entry entry_of(const Signature& signature, const ScaffoldOptions& options, const std::string& function) {
  std::error_code problem;
  fs::path file = fs::relative(fs::absolute(options.file), fs::absolute(options.folder), problem);
  if (problem || file.empty()) file = fs::absolute(options.file);
  model::Entry entry{file.generic_string(), function, {}, ""};
  for (const KernelParameter& parameter : signature.parameters) {
    if (parameter.is_returned) {
      entry.returns = parameter.task_name;
      continue;
    }
    entry.args.push_back(parameter.role == ParameterRole::axis ? parameter.type.element + " " + parameter.axis
                                                               : parameter.task_name);
  }
  for (const KernelAxis& axis : signature.axes) {
    if (!axis.expression.empty()) entry.args.push_back(axis.name + " = " + axis.expression);
  }
  return entry;
}

/// The text without declarations of the function that are not its definition. What `init` takes returns nothing, so
/// "void" before the name tells a declaration from a call.
std::string without_prototypes(const std::string& text, const std::string& name) {
  static const std::string before = R"re((?:extern\s+(?:"C"\s+)?|static\s+|inline\s+)*\bvoid\s+)re";
  return std::regex_replace(text, std::regex(before + name + R"re(\s*\([^(){};]*\)\s*(?:noexcept\s*)?;)re"), "");
}

/// Names of the task that the user's file uses for something of its own get a suffix there.
std::string without_clashes(const syntax::Unit& unit, const Stated& stated) {
  std::set<std::string> taken{"kernel", "reference"};
  for (const auto& [name, shape] : stated.shapes) taken.insert(shape.begin(), shape.end());
  for (const auto& [name, extent] : stated.axes) taken.insert(name);
  for (const auto& [name, extent] : stated.constants) taken.insert(name);
  const auto inside_function = [&](std::int64_t offset) {
    return std::any_of(unit.functions.begin(), unit.functions.end(), [&](const syntax::Function& function) {
      return offset >= static_cast<std::int64_t>(function.extent.begin) &&
             offset < static_cast<std::int64_t>(function.body.end);
    });
  };
  std::set<std::string> clashing;
  for (const syntax::Function& function : unit.functions) {
    if (taken.contains(function.name)) clashing.insert(function.name);
    for (const syntax::NameUse& use : function.names) {
      if (taken.contains(use.name) && use.declaration >= 0 && !inside_function(use.declaration))
        clashing.insert(use.name);
    }
  }
  return change_words(unit.source, [&](const Word& word) -> std::optional<std::string> {
    const bool is_member = word.is_qualified && !std::string_view(unit.source).substr(0, word.offset).ends_with("::");
    if (word.is_number || is_member || !clashing.contains(word.text)) return std::nullopt;
    return word.text + "_own";
  });
}

/// Where a function's whole definition begins: with attributes, `static`, `extern "C"`, and conditionals about these.
std::size_t begin_of_definition(const std::string& source, const syntax::Function& function) {
  const std::vector<Chunk> chunks = top_level_chunks(source);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].extent.contains(function.body)) return begin_with_prefixes(chunks, i);
  }
  return function.extent.begin;
}

/// What the lines of comment right above the function say, as one line of a task.toml's string.
std::string comment_above(const syntax::Unit& unit, const syntax::Function& function) {
  constexpr std::size_t kMostLetters = 300;
  const std::string above = unit.source.substr(0, begin_of_definition(unit.source, function));
  std::vector<std::string> lines;
  for (std::size_t end = above.rfind('\n'); end != std::string::npos && end > 0;) {
    const std::size_t before = above.rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::string_view line = std::string_view(above).substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string_view text = first == std::string_view::npos ? "" : line.substr(first);
    if (!text.starts_with("//") && !text.starts_with("*") && !text.starts_with("/*")) break;
    lines.emplace_back(text);
    if (text.starts_with("/*")) break;
    end = before;
  }
  static const std::regex kMarks(R"(^\s*(/\*+|\*/|\*|//+[!<]?)|\*+/\s*$)");
  static const std::regex kBlanks(R"([\s"\\\x00-\x1f]+)");
  std::string joined;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) joined += std::regex_replace(*line, kMarks, "") + " ";
  joined = std::regex_replace(joined, kBlanks, " ").substr(0, kMostLetters);
  const std::size_t first = joined.find_first_not_of(' ');
  return first == std::string::npos ? "" : joined.substr(first, joined.find_last_not_of(' ') - first + 1);
}

std::string function_name(const std::string& qualified) {
  const std::size_t colons = qualified.rfind("::");
  return colons == std::string::npos ? qualified : qualified.substr(colons + 2);
}

/// Whether one of the functions uses what is declared there.
bool is_used(const syntax::Unit& unit, const syntax::Extent& extent) {
  return std::any_of(unit.functions.begin(), unit.functions.end(), [&](const syntax::Function& function) {
    return std::any_of(function.names.begin(), function.names.end(), [&](const syntax::NameUse& use) {
      return use.declaration >= 0 && extent.begin <= static_cast<std::size_t>(use.declaration) &&
             static_cast<std::size_t>(use.declaration) < extent.end;
    });
  });
}

/// A variable outside of all functions that the function needs: in the baseline it would hold nothing of what the
/// program puts there, and a kernel keeps no data.
Result<void> refuse_variables(const syntax::Unit& extracted, const syntax::Function& function) {
  static const std::regex kNoVariable(R"(\b(?:const|constexpr|typedef|using|struct|class|union|enum|template)\b)");
  static const std::regex kName(R"((\w+)\s*(?:\[[^=]*)?$)");
  for (const Chunk& chunk : top_level_chunks(extracted.source)) {
    if (chunk.kind != Chunk::Kind::declaration || !is_used(extracted, chunk.extent)) continue;
    const std::string text(extracted.text(chunk.extent));
    const std::string head = text.substr(0, text.find_first_of("={;"));
    std::smatch found;
    if (head.find('(') != std::string::npos || std::regex_search(head, kNoVariable)) continue;
    if (!std::regex_search(head, found, kName)) continue;
    return fail(ErrorCode::unsupported, function.name + " uses the variable " + found[1].str() +
                                            ", which the program fills elsewhere and a kernel cannot keep; pass it as "
                                            "a parameter, or make it const with its values");
  }
  return {};
}

/// "a::B::" of a function that is defined outside of the scope it belongs to: `void a::B::f() {}`.
std::string qualifier_of(const syntax::Unit& unit, const syntax::Function& function) {
  const std::string_view header = unit.text({function.extent.begin, function.body.begin});
  const std::size_t name = header.find("::" + function.name);
  if (name == std::string_view::npos || name > header.find('(')) return "";
  const std::size_t blank = header.find_last_of(" \t\r\n*&", name);
  const std::size_t first = blank == std::string_view::npos ? 0 : blank + 1;
  return std::string(header.substr(first, name - first));
}

/// What stands before and behind the function, and the scope in which its body has to be read.
struct Surroundings {
  std::string before;
  std::string after;
  std::string qualifier;

  [[nodiscard]] std::string around(const std::string& definition) const {
    if (qualifier.empty()) return before + definition + after;
    return before + "namespace " + qualifier + " {\n" + definition + "\n}  // namespace " + qualifier + after;
  }
};

/// The function after names that clash were changed: perhaps its own.
Result<const syntax::Function*> renamed_function(const syntax::Unit& unit, const std::string& qualified) {
  for (const syntax::Function& function : unit.functions) {
    if (function.qualified_name() == qualified) return &function;
  }
  return find_function(unit, qualified + "_own");
}

void check_made(const syntax::Clang& clang, const std::string& file, const std::string& source,
                const std::string& header, model::Language language, std::vector<std::string>& notes) {
  const auto unit = read_unit(clang, source, language, {{"task.h", header}});
  if (!unit || unit->errors.empty()) return;
  const syntax::Diagnostic& first = unit->errors.front();
  notes.push_back(
      fmt::format("{}:{}:{}: {}; mend it before the first run", file, first.line, first.column, first.message));
}

/// Keeps a reference that leaves out the values which indices name from being taken for a whole one.
std::string unwritten_values(const Signature& signature) {
  std::string text;
  for (const TieValues& values : signature.ties) {
    text +=
        "#error \"write to " + values.name +
        " every value that an index can name (the candidates' distances, scores or keys); then delete this line\"\n";
  }
  return text;
}

/// Whether the function is over narrower data than double: what it computes in double is then meant to be more precise.
bool reads_no_doubles(const Signature& signature) {
  return std::none_of(signature.parameters.begin(), signature.parameters.end(), [](const KernelParameter& parameter) {
    const bool is_read = parameter.role == ParameterRole::input || parameter.role == ParameterRole::inout;
    return parameter.is_tensor && is_read && parameter.dtype == model::DType::float64;
  });
}

/// The definition with its parameters over `real`, which is how the reference is called.
std::string with_real_parameters(const std::string& definition) {
  const std::size_t end = definition.find(") {\n");
  return change_words(definition, [&](const Word& word) -> std::optional<std::string> {
    return word.offset < end && word.text == "double" ? std::optional<std::string>("real") : std::nullopt;
  });
}

/// How inputs are drawn goes into the draft's task, as far as it is stated. @error invalid_argument: a generator does
/// not fit its input.
Result<void> take_stated_inits(const Signature& signature, const Stated& stated, Draft& draft) {
  for (const KernelParameter& parameter : signature.parameters) {
    const auto init = stated.inits.find(parameter.name);
    if (init == stated.inits.end()) continue;
    for (model::TensorSpec& input : draft.task.definition.inputs) {
      if (input.name != parameter.task_name) continue;
      TRY_ASSIGN(input.init, model::parse_init(init->second));
      const std::string range = model::is_floating(input.dtype) ? "uniform(0.5, 2)" : "integers(0, 100)";
      if (const std::string reason = suites::refuse_init(input, input.init); !reason.empty()) {
        const std::string advice =
            input.shape ? "" : "; " + parameter.name + " is a number: write constant(VALUE), or a range, like " + range;
        return fail(ErrorCode::invalid_argument, fmt::format("--init {}: {}{}", parameter.name, reason, advice));
      }
      if (!input.shape && is_one_value(input.init))
        draft.notes.push_back(fmt::format(
            "{} is drawn as one value, {}: kernels may rely on it, and the patch calls the winner for it alone; where "
            "callers give others, draw it from a range, like {}",
            parameter.name, init->second, range));
    }
  }
  return {};
}

/// Errors of the reference as it is built with `real` being float.
Result<std::size_t> errors_in_float(const syntax::Clang& clang, const std::string& source, const Signature& signature,
                                    model::Language language) {
  const std::string header = "#define ACCELOPT_REAL float\n" + targets::cpu::reference_header(definition_of(signature));
  return count_errors(clang, "#include \"task.h\"\n" + source, language, {{"task.h", header}});
}

/// The function's text over `real`. Where it reads no double, its doubles stay, so that the float build shows the error
/// of what the user wrote, and not that of sums in float; unless the text then no longer fits together.
Result<RealSource> real_text(const syntax::Clang& clang, const Signature& signature, const Surroundings& around,
                             const std::string& definition, model::Language language, std::vector<std::string>& notes) {
  RealSource all = over_real(around.around(definition), language);
  if (!reads_no_doubles(signature)) return all;
  RealSource stays = over_real(around.around(with_real_parameters(definition)), language, Doubles::stay);
  if (stays.source == all.source || !all.vector_names.empty() || !signature.ties.empty()) return stays;
  TRY_ASSIGN(const std::size_t errors, errors_in_float(clang, stays.source, signature, language));
  if (errors == 0) return stays;
  TRY_ASSIGN(const std::size_t errors_of_all, errors_in_float(clang, all.source, signature, language));
  if (errors <= errors_of_all) return stays;
  notes.emplace_back(
      "the reference computes in `real` what the function computes in double, so that kernels may be as far off as if "
      "it were computed in float; write double into the reference where that matters");
  return all;
}

/// Says what stands above a derived reference.
std::string derived_from(const syntax::Function& function) {
  return "// Derived by accelopt init from " + function.name +
         " itself: it proves equality with it, not correctness. Rewrite it as the definition of what is wanted.\n"
         "#include \"task.h\"\n\n";
}

void check_reference(const syntax::Clang& clang, const Signature& signature, model::Language language, Draft& draft) {
  check_made(clang, "reference" + draft.extension, draft.reference,
             "#define ACCELOPT_REAL double\n" + targets::cpu::reference_header(definition_of(signature)), language,
             draft.notes);
}

/// The reference of a function that makes integers of floats: its own text, and a call of that.
Result<void> draft_own_precision(const syntax::Clang& clang, const syntax::Unit& kept, const Signature& signature,
                                 const Surroundings& around, const syntax::Function& function, Draft& draft) {
  TRY_ASSIGN(const std::string definition, kernel_definition(signature, kInOwnPrecision, kept, function));
  draft.reference = derived_from(function) +
                    (kept.language == model::Language::c ? "#include <stdlib.h>\n" : "#include <vector>\n") +
                    needed_includes(definition, around.before) + around.around(definition) +
                    reference_in_own_precision(definition_of(signature), kept.language, around.qualifier);
  check_reference(clang, signature, kept.language, draft);
  return {};
}

Result<void> draft_reference(const syntax::Clang& clang, const syntax::Unit& kept, const Signature& signature,
                             const Surroundings& around, const syntax::Function& function, Draft& draft) {
  const model::Language language = kept.language;
  TRY_ASSIGN(const std::string definition, kernel_definition(signature, "reference", kept, function));
  const std::string trick = bit_trick(around.around(definition));
  const auto vectors = over_real(reached_text(kept, function), language).vector_names;
  if (trick.empty() && vectors.empty() && makes_integers_of_floats(definition_of(signature)))
    return draft_own_precision(clang, kept, signature, around, function, draft);
  TRY_ASSIGN(const RealSource real, real_text(clang, signature, around, definition, language, draft.notes));
  std::string marker;
  if (!trick.empty()) {
    marker = fmt::format("#error \"{}: what is meant, over `real`, in place of the bits of a float ({})\"\n",
                         suites::kToBeFilledIn, trick);
    draft.open.push_back("reference" + draft.extension + ": what is meant in place of the bits of a float (" + trick +
                         "), which have no form over `real`");
  }
  draft.reference = derived_from(function) + needed_includes(definition, around.before) + unwritten_values(signature) +
                    marker + real.source;
  if (!vectors.empty()) {
    draft.notes.push_back(fmt::format(
        "reference{}: the function uses vector instructions ({}), which have no form over `real`; write {} by hand",
        draft.extension, vectors.front(), targets::cpu::reference_prototype(definition_of(signature), language)));
    return {};
  }
  if (!signature.ties.empty() || !trick.empty()) return {};  // it does not compile before somebody has completed it
  check_reference(clang, signature, language, draft);
  return {};
}

std::string note_on_unknown(const std::vector<std::string>& axes, const std::string& function) {
  return fmt::format(
      "nothing in a call of {} says how long {} is: the patch will call the winner for exactly the sizes of the "
      "workloads. Where it follows from other axes, say so, like --shape y=len+taps; else let the function take it",
      function, base::joined(axes, ", "));
}

/// Says what becomes of callers that pass null, of which the task knows nothing.
std::string note_on_null(const std::vector<std::string>& parameters, const std::string& function) {
  return fmt::format(
      "{0} tests {1} for null: the task always gives kernels {1}, and the patch calls the winner only where {1} {2} "
      "not "
      "null. Callers that pass null get your own code; to make that faster, make a task of the function without {1}",
      function, base::joined(parameters, " and "), parameters.size() > 1 ? "are" : "is");
}

Result<Draft> make_draft(const syntax::Clang& clang, const ScaffoldOptions& options, const std::string& source,
                         model::Language language) {
  TRY_ASSIGN(Stated stated, parse_stated(options.stated));
  const HeaderFolders folders = header_folders_of(options.file);
  TRY_ASSIGN(Extract extract, extract_function(clang, source, language, options.function, folders));
  TRY_ASSIGN(const syntax::Unit extracted, read_unit(clang, extract.source, language));
  // Values that the file gives to an axis are read before its names change.
  TRY_ASSIGN(const syntax::Function* const original, find_function(extracted, extract.function));
  TRY(refuse_variables(extracted, *original));
  const auto read = read_signature(extracted, *original, stated);
  if (!read && !extract.missing_headers.empty())
    return fail(read.error().code, read.error().message + "\n" + extract.missing_headers);
  TRY_ASSIGN(const Signature signature, read);
  const std::vector<std::string> ranges = name_index_ranges(*original, signature, stated);

  const std::string kept = without_clashes(extracted, stated);
  std::optional<syntax::Unit> renamed;
  if (kept != extract.source) {
    TRY_ASSIGN(renamed, read_unit(clang, kept, language));
  }
  const syntax::Unit& unit = renamed ? *renamed : extracted;
  TRY_ASSIGN(const syntax::Function* const function, renamed_function(unit, extract.function));
  TRY_ASSIGN(const Signature adapted, read_signature(unit, *function, stated));
  const std::size_t begin = begin_of_definition(kept, *function);
  const Surroundings around{without_prototypes(kept.substr(0, begin), function->name),
                            without_prototypes(kept.substr(function->body.end), function->name),
                            qualifier_of(unit, *function)};

  Draft draft;
  draft.extension = language == model::Language::c ? ".c" : ".cpp";
  draft.notes = std::move(extract.notes);
  draft.notes.insert(draft.notes.end(), adapted.notes.begin(), adapted.notes.end());
  draft.notes.insert(draft.notes.end(), ranges.begin(), ranges.end());
  Signature of_kernel = adapted;
  of_kernel.ties.clear();  // the reference alone writes them
  TRY_ASSIGN(const std::string definition, kernel_definition(of_kernel, "kernel", unit, *function));
  if (has_omp_parallel(kept)) draft.notes.push_back(extract.function + kStartsThreads);
  draft.baseline = "// Made by accelopt init from " + extract.function + " in " + options.file.filename().string() +
                   ".\n" + "#include \"task.h\"\n\n" + needed_includes(definition, around.before) +
                   around.around(definition);
  check_made(clang, "baseline" + draft.extension, draft.baseline, targets::cpu::kernel_header(definition_of(signature)),
             language, draft.notes);
  TRY(draft_reference(clang, unit, adapted, around, *function, draft));
  draft.task.definition = definition_of(signature);
  TRY(take_stated_inits(signature, stated, draft));
  draft.task.definition.name = plain_name(extract.function);
  draft.task.definition.op_type = options.op_type.empty() ? function_name(extract.function) : options.op_type;
  draft.task.definition.description = comment_above(extracted, *original);
  draft.task.entry = entry_of(signature, options, extract.function);
  TRY_ASSIGN(draft.task.entry->content, content_of(clang, source, language, extract.function, folders));
  draft.task.baseline = {language, {{"baseline" + draft.extension, draft.baseline}}};
  draft.task.reference = {"reference" + draft.extension, draft.reference};
  const std::vector<std::string> unknown = unknown_extents(draft.task, extracted, *original);
  if (!unknown.empty() && !model::variable_axes(draft.task.definition).empty())
    draft.notes.push_back(note_on_unknown(unknown, extract.function));
  if (const auto tested = parameters_tested_for_null(extracted, *original); !tested.empty())
    draft.notes.push_back(note_on_null(tested, extract.function));
  TomlDraft toml =
      task_toml(signature, stated, draft.task, unknown.empty() ? TensorLengths::known : TensorLengths::unknown);
  draft.toml = std::move(toml.text);
  draft.open.insert(draft.open.begin(), toml.open.begin(), toml.open.end());
  for (const TieValues& values : signature.ties)
    draft.open.push_back("reference" + draft.extension + ": what is to be written to " + values.name);
  return draft;
}

}  // namespace

std::string plain_name(const std::string& function) {
  std::string name;
  for (const char c : function) {
    if (c != ':') {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  return name;
}

Result<ScaffoldReport> scaffold_task(const syntax::Clang& clang, const ScaffoldOptions& options) {
  TRY_ASSIGN(const std::string source, base::read_file(options.file));
  std::error_code ignored;
  if (fs::exists(options.folder, ignored) &&
      (!fs::is_directory(options.folder, ignored) || !fs::is_empty(options.folder, ignored))) {
    return fail(ErrorCode::already_exists, options.folder.string() + " is not an empty folder; name another one");
  }
  const std::string extension = options.file.extension().string();
  if (extension == ".py" || extension == ".cu") return scaffold_operator(options, source);
  if (!options.example.empty() || !options.reference.empty())
    return fail(
        ErrorCode::invalid_argument,
        "--example and --reference are of .py and .cu files; say with --shape, --out and --axis what a function "
        "in C or C++ is given");
  static const std::set<std::string> kHeaders{".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp"};
  if (kHeaders.contains(extension)) {
    return fail(
        ErrorCode::invalid_argument,
        options.file.string() +
            " is a header, into which no winner can be put: each file that includes it would hold one. Define the "
            "function in a .c or .cpp file, and name that");
  }
  TRY_ASSIGN(const model::Language language, model::language_of_file(options.file.filename().string()));
  if (language != model::Language::c && language != model::Language::cpp) {
    return fail(ErrorCode::invalid_argument,
                options.file.string() + ": only .c, .cpp, .py and .cu files can be scaffolded");
  }
  TRY_ASSIGN(Draft draft, make_draft(clang, options, source, language));
  TRY(base::make_folders(options.folder));
  ScaffoldReport report{options.folder,
                        {"task.toml", "baseline" + draft.extension, "reference" + draft.extension},
                        draft.open,
                        draft.notes,
                        draft.task};
  TRY(base::write_file(options.folder / report.files[0], draft.toml));
  TRY(base::write_file(options.folder / report.files[1], draft.baseline));
  TRY(base::write_file(options.folder / report.files[2], draft.reference));
  return report;
}

}  // namespace accelopt::scaffold
