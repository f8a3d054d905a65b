// SPDX-License-Identifier: Apache-2.0
#include "suites/mutants.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "model/target_description.hpp"
#include "suites/mutant_text.hpp"

namespace accelopt::suites {
namespace {

using model::DType;
using model::TensorSpec;

/// The baseline's name inside a mutant.
constexpr const char* kBaselineName = "baseline_of_the_task";

/// Arguments by name that a mutant passes on instead of the kernel's own.
using Replaced = std::vector<std::pair<std::string, std::string>>;

std::string call_of_baseline(const model::Definition& definition, const Replaced& replaced = {}) {
  std::string out;
  const auto add = [&](const std::string& name) {
    const auto found =
        std::find_if(replaced.begin(), replaced.end(), [&](const auto& pair) { return pair.first == name; });
    out += (out.empty() ? "" : ", ") + (found == replaced.end() ? name : found->second);
  };
  for (const TensorSpec& input : definition.inputs) {
    if (model::is_passed_as_input(input)) add(input.name);
  }
  for (const TensorSpec& output : definition.outputs) add(output.name);
  for (const std::string& axis : model::variable_axes(definition)) add(axis);
  return std::string("  ") + kBaselineName + "(" + out + ");\n";
}

/// The conversion to and from float that task.h has for a small type; none for those of C.
std::string helper_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "f16";
    case DType::bfloat16:
      return "bf16";
    case DType::float8_e4m3fn:
      return "fp8_e4m3";
    case DType::float8_e5m2:
      return "fp8_e5m2";
    default:
      return {};
  }
}

std::string as_number(DType dtype, const std::string& expression) {
  const std::string helper = helper_of(dtype);
  return helper.empty() ? expression : helper + "_to_float(" + expression + ")";
}

std::string of_number(DType dtype, const std::string& expression) {
  const std::string helper = helper_of(dtype);
  const std::string type(model::c_name(dtype));
  return helper.empty() ? "(" + type + ")(" + expression + ")" : helper + "_from_float((float)(" + expression + "))";
}

/// As few digits as tell the number from all others.
std::string shortest_text(double value) {
  std::array<char, 32> buffer;
  const auto [end, problem] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

constexpr const char* kRounding = R"(
static inline float mutant_rounded(float value, unsigned dropped) {  /* to nearest, ties to even, with fewer bits of fraction */
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  bits += ((1u << (dropped - 1)) - 1u) + ((bits >> dropped) & 1u);
  bits = bits >> dropped << dropped;
  memcpy(&value, &bits, 4);
  return value;
}
)";

/// Builds the solutions, and knows what applies to the task.
class MutantGenerator {
 public:
  explicit MutantGenerator(const model::Task& task) : task_(task), definition_(task.definition) {}

  std::vector<Mutant> generate() {
    for_outputs(MutantKind::zeros, "zeros", &MutantGenerator::zeros);
    for_outputs(MutantKind::constant, "constant", &MutantGenerator::constant);
    for_outputs(MutantKind::copy, "copy of input", &MutantGenerator::copy);
    for_outputs(MutantKind::last_tile, "last tile skipped", &MutantGenerator::last_tile);
    shorten_reductions();
    for_outputs(MutantKind::row, "one row unwritten", &MutantGenerator::row);
    fix_scalars();
    mutate_input();
    mutants_.push_back(without_epsilon(task_));
    std::ranges::move(with_changed_comparisons(task_), std::back_inserter(mutants_));
    for (const Rounding& rounding : roundings()) add_rounded(rounding);
    if (!integer_inputs(definition_).empty()) narrow_integers();
    return std::move(mutants_);
  }

 private:
  /// What a mutant does to one output, as statements after the baseline's call and before it; or why it does not apply.
  struct Spoiled {
    std::string code;
    std::string does;
    std::string skipped;
    std::string before{};
  };

  void for_outputs(MutantKind kind, const std::string& name,
                   Spoiled (MutantGenerator::*spoil)(const TensorSpec&) const) {
    const bool several = definition_.outputs.size() > 1;
    for (const TensorSpec& output : definition_.outputs) {
      const Spoiled spoiled = (this->*spoil)(output);
      add(kind, several ? name + " (output " + output.name + ")" : name, spoiled.does, spoiled.skipped,
          spoiled.before + call_of_baseline(definition_) + spoiled.code);
    }
  }

  void add(MutantKind kind, std::string name, std::string does, std::string skipped, const std::string& body) {
    Mutant mutant{kind, std::move(name), std::move(does), std::move(skipped), {}};
    if (mutant.skipped.empty()) mutant.solution = solution(body);
    mutants_.push_back(std::move(mutant));
  }

  [[nodiscard]] model::Solution solution(const std::string& body) const {
    const std::string prototype = "(" + kernel_parameters(definition_) + ")";
    model::Solution out;
    out.language = model::Language::cpp;
    const model::SourceFile& kernel = task_.baseline.sources.front();
    out.sources.push_back({"mutant.cpp", flags(kernel.text) +
                                             "#include \"task.h\"\n#include <stdlib.h>\n#include <string.h>\n" +
                                             "extern \"C\" void " + kBaselineName + prototype + ";\n" + kRounding +
                                             "extern \"C\" void kernel" + prototype + " {\n" + body + "}\n"});
    const bool c = task_.baseline.language == model::Language::c;
    out.sources.push_back({c ? "baseline.c" : "baseline.cpp", std::string("#define kernel ") + kBaselineName + "\n" +
                                                                  (c ? "void " : "extern \"C\" void ") + kBaselineName +
                                                                  prototype + ";\n" + kernel.text});
    for (std::size_t i = 1; i < task_.baseline.sources.size(); ++i) out.sources.push_back(task_.baseline.sources[i]);
    return out;
  }

  /// The baseline's `//@ flags` lines: the program reads them in the main file alone.
  static std::string flags(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      const auto start = line.find_first_not_of(" \t");
      if (start != std::string::npos && line.compare(start, 3, "//@") == 0 &&
          line.find("flags", start) != std::string::npos) {
        out += line + "\n";
      }
      at = end + 1;
    }
    return out;
  }

  [[nodiscard]] Spoiled zeros(const TensorSpec& output) const {
    return {"  memset(" + output.name + ", 0, sizeof *" + output.name + " * (" + elements(output) + "));\n",
            "every element of " + output.name + " is 0",
            {}};
  }

  [[nodiscard]] Spoiled constant(const TensorSpec& output) const {
    const std::string& y = output.name;
    if (most_elements(task_, output) < 2) return {{}, {}, "output " + y + " has one element only"};
    std::string value = y + "[0]";
    if (model::is_floating(output.dtype)) {
      value = of_number(output.dtype, "mutant_sum / (double)mutant_count");
    }
    const std::string sum = model::is_floating(output.dtype)
                                ? "    double mutant_sum = 0;\n    for (int64_t mutant_i = 0; mutant_i < mutant_count; "
                                  "++mutant_i) mutant_sum += " +
                                      as_number(output.dtype, y + "[mutant_i]") + ";\n"
                                : "";
    return {"  {\n    const int64_t mutant_count = " + elements(output) + ";\n" + sum + "    const " +
                std::string(model::c_name(output.dtype)) + " mutant_value = " + value +
                ";\n    for (int64_t mutant_i = 0; mutant_i < mutant_count; ++mutant_i) " + y +
                "[mutant_i] = mutant_value;\n  }\n",
            model::is_floating(output.dtype) ? "every element of " + y + " is their mean"
                                             : "every element of " + y + " is the first one",
            {}};
  }

  /// Of an inout tensor what it held before the call.
  [[nodiscard]] Spoiled copy(const TensorSpec& output) const {
    if (output.inout) {
      const std::string& x = output.name;
      return {"  memcpy(" + x + ", mutant_before_" + x + ", sizeof *" + x + " * (" + elements(output) +
                  "));\n  free(mutant_before_" + x + ");\n",
              x + " is left as it was",
              {},
              copied(output, "mutant_before_", "")};
    }
    const TensorSpec* const source = source_of_copy(definition_, output);
    if (source == nullptr) {
      return {{}, {}, "no input tensor has the type of output " + output.name};
    }
    return {"  for (int64_t mutant_i = 0; mutant_i < " + elements(output) + "; ++mutant_i) " + output.name +
                "[mutant_i] = " + source->name + "[mutant_i % (" + elements(*source) + ")];\n",
            output.name + " is a copy of " + source->name,
            {}};
  }

  [[nodiscard]] Spoiled last_tile(const TensorSpec& output) const {
    const std::string& y = output.name;
    if (most_elements(task_, output) < 2) return {{}, {}, "output " + y + " has one element only"};
    return {"  {\n    const int64_t mutant_count = " + elements(output) +
                ";\n    const int64_t mutant_first = mutant_count > 8 ? mutant_count - 8 : 1;\n" +
                "    for (int64_t mutant_i = mutant_first; mutant_i < mutant_count; ++mutant_i) " + y +
                "[mutant_i] = " + y + "[mutant_first - 1];\n  }\n",
            "the last 8 elements of " + y + " repeat the one before them",
            {}};
  }

  [[nodiscard]] Spoiled row(const TensorSpec& output) const {
    const std::string& y = output.name;
    if (!output.shape || output.shape->size() < 2) return {{}, {}, "output " + y + " has no row axis"};
    TensorSpec first_axes = output;
    first_axes.shape->pop_back();
    if (most_elements(task_, first_axes) < 2) return {{}, {}, "output " + y + " has one row only"};
    const std::size_t rank = output.shape->size();
    const std::string length = product(*output.shape, rank - 1, rank);
    return {"  {\n    const int64_t mutant_rows = " + product(*output.shape, 0, rank - 1) +
                ";\n    const int64_t mutant_length = " + length + ";\n    if (mutant_rows > 1) memcpy(" + y +
                " + mutant_rows / 2 * mutant_length, " + y + " + (mutant_rows / 2 - 1) * mutant_length, sizeof *" + y +
                " * mutant_length);\n  }\n",
            "one row of " + y + " in the middle repeats the row before it",
            {}};
  }

  /// Statements that copy a tensor into one of a longer name, which `change` then alters; the mutant frees it at the
  /// end.
  [[nodiscard]] static std::string copied(const TensorSpec& input, const std::string& prefix,
                                          const std::string& change) {
    const std::string type(model::c_name(input.dtype));
    const std::string name = prefix + input.name;
    return "  " + type + "* " + name + " = (" + type + "*)malloc(sizeof(" + type + ") * (" + elements(input) +
           " + 1));\n" + "  if (!" + name + ") abort();\n  memcpy(" + name + ", " + input.name + ", sizeof(" + type +
           ") * (" + elements(input) + "));\n" + change;
  }

  /// The baseline on changed copies of inputs.
  void add_on_changed(MutantKind kind, std::string name, std::string does,
                      const std::vector<std::pair<const TensorSpec*, std::string>>& changes) {
    std::string body;
    std::string freed;
    Replaced replaced;
    for (const auto& [input, change] : changes) {
      if (input->inout) {  // is the kernel's to change
        body += "  " + std::string(model::c_name(input->dtype)) + "* mutant_changed_" + input->name + " = " +
                input->name + ";\n" + change;
        continue;
      }
      body += copied(*input, "mutant_changed_", change);
      freed += "  free(mutant_changed_" + input->name + ");\n";
      replaced.emplace_back(input->name, "mutant_changed_" + input->name);
    }
    add(kind, std::move(name), std::move(does), {}, body + call_of_baseline(definition_, replaced) + freed);
  }

  void shorten_reductions() {
    const std::vector<std::string> reduced = reduced_axes(definition_);
    const std::string name = "1 % of the reduction skipped";
    if (reduced.empty()) {
      add(MutantKind::reduction, name, {}, "every axis of the floating inputs is also one of the outputs", {});
    }
    for (const std::string& axis : reduced) shorten(axis, reduced.size() > 1 ? name + " (over " + axis + ")" : name);
  }

  void shorten(const std::string& axis, const std::string& name) {
    std::vector<std::pair<const TensorSpec*, std::string>> changes;
    for (const TensorSpec& input : definition_.inputs) {
      if (!has_axis(input, axis) || !model::is_floating(input.dtype)) continue;
      const std::vector<std::string>& shape = *input.shape;
      const auto place = static_cast<std::size_t>(std::find(shape.begin(), shape.end(), axis) - shape.begin());
      const std::string changed = "mutant_changed_" + input.name;
      changes.emplace_back(
          &input, "  for (int64_t mutant_outer = 0; mutant_outer < " + product(shape, 0, place) +
                      "; ++mutant_outer) {\n    const int64_t mutant_extent = " + axis +
                      ", mutant_inner = " + product(shape, place + 1, shape.size()) + ", mutant_skipped = " + kSkipped +
                      ";\n    memset(" + changed +
                      " + (mutant_outer * mutant_extent + mutant_extent - mutant_skipped) * mutant_inner, 0, sizeof *" +
                      changed + " * (mutant_skipped * mutant_inner));\n  }\n");
    }
    add_on_changed(MutantKind::reduction, name, "the last 1 % along " + axis + " (at least one) counts as 0", changes);
  }

  void fix_scalars() {
    const std::vector<TensorSpec>& inputs = definition_.inputs;
    const auto is_scalar = [](const TensorSpec& input) { return !input.shape; };
    const bool several = std::count_if(inputs.begin(), inputs.end(), is_scalar) > 1;
    for (const TensorSpec& input : inputs) {
      if (!is_scalar(input)) continue;
      const std::string value = shortest_text(some_value(input));
      add(MutantKind::scalar, several ? "scalar ignored (" + input.name + ")" : "scalar ignored",
          input.name + " counts as " + value + ", whatever it is", {},
          call_of_baseline(definition_, {{input.name, of_number(input.dtype, value)}}));
    }
  }

  /// One that the first workload may draw.
  [[nodiscard]] double some_value(const TensorSpec& scalar) const {
    const model::Workload& workload = task_.workloads.front();
    const model::InitSpec& declared = model::init_of(workload, scalar);
    const auto known = model::bound(declared, model::bind_axes(definition_, workload));
    const model::InitSpec& spec = known ? *known : declared;
    switch (spec.kind) {
      case model::InitKind::zeros:
      case model::InitKind::permutation:
        return 0;
      case model::InitKind::ones:
        return 1;
      case model::InitKind::values:
        return spec.values.front();
      default:
        return model::is_floating(scalar.dtype) ? spec.first : std::ceil(spec.first);
    }
  }

  void mutate_input() {
    const auto input = std::find_if(definition_.inputs.begin(), definition_.inputs.end(),
                                    [](const TensorSpec& one) { return one.shape.has_value() && !one.inout; });
    const std::string name = "inputs mutated";
    if (input == definition_.inputs.end()) {
      add(MutantKind::mutated_input, name, {}, "there is no input tensor", {});
      return;
    }
    add(MutantKind::mutated_input, name, "the baseline, which then writes into " + input->name, {},
        call_of_baseline(definition_) + "  *(volatile unsigned char*)" + input->name + " ^= 1;\n");
  }

  void add_rounded(const Rounding& rounding) {
    std::string to;
    std::vector<std::pair<const TensorSpec*, std::string>> changes;
    for (const TensorSpec& input : definition_.inputs) {
      if (!input.shape || !model::is_floating(input.dtype) || !rounding.applies(input.dtype)) continue;
      const std::string changed = "mutant_changed_" + input.name + "[mutant_i]";
      const std::string value = input.dtype == DType::float64
                                    ? "(float)" + changed
                                    : "mutant_rounded(" + as_number(input.dtype, changed) + ", " +
                                          std::to_string(dropped_bits(rounding, input.dtype)) + ")";
      to = rounding.to(input.dtype);
      changes.emplace_back(&input, "  for (int64_t mutant_i = 0; mutant_i < " + elements(input) + "; ++mutant_i) " +
                                       changed + " = " + of_number(input.dtype, value) + ";\n");
    }
    const std::string reason = changes.empty() ? "no input tensor has a floating type with a lower one below it"
                                               : refuse_rounding(definition_);
    if (reason.empty()) {
      add_on_changed(MutantKind::lower_precision, rounding.name, "the baseline on inputs rounded to " + to, changes);
    } else {
      add(MutantKind::lower_precision, rounding.name, {}, reason, {});
    }
  }

  /// Of tasks with integers alone: sums and products that wrap around keep the low half of what is right.
  void narrow_integers() {
    for (const TensorSpec& output : definition_.outputs) {
      const std::string half = narrower(output.dtype, 4 * model::size_of(output.dtype));
      if (half.empty() || !output.ties.empty()) continue;
      const std::string does = "of each element of " + output.name + " only what " + half + " holds";
      add(MutantKind::half_width, "integers in half the width (output " + output.name + ")", does, {},
          call_of_baseline(definition_) + "  for (int64_t mutant_i = 0; mutant_i < " + elements(output) +
              "; ++mutant_i) " + output.name + "[mutant_i] = (" + half + ")" + output.name + "[mutant_i];\n");
    }
    for (const TensorSpec* const input : integer_inputs(definition_)) {
      for (const std::size_t bits : {16U, 8U}) {
        const std::string narrow = narrower(input->dtype, bits);
        if (narrow.empty()) continue;
        const std::string element = "mutant_changed_" + input->name + "[mutant_i]";
        add_on_changed(MutantKind::narrow_input,
                       "inputs cut to " + std::to_string(bits) + " bits (input " + input->name + ")",
                       "the baseline on " + input->name + " as " + narrow,
                       {{input, "  for (int64_t mutant_i = 0; mutant_i < " + elements(*input) + "; ++mutant_i) " +
                                    element + " = (" + narrow + ")" + element + ";\n"}});
      }
    }
  }

  const model::Task& task_;
  const model::Definition& definition_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> derive_mutants(const model::Task& task) {
  switch (model::describe(task.baseline.language).form) {
    case model::KernelForm::launches:
      return derive_cuda_mutants(task);
    case model::KernelForm::function:
      return MutantGenerator(task).generate();
    case model::KernelForm::text:
    case model::KernelForm::files:
      break;
  }
  return {};
}

model::Task with_measured_bounds(const model::Task& task) {
  model::Task out = task;
  out.definition.numerics = {};
  return out;
}

model::Task with_rich_inputs(const model::Task& task) {
  model::Task out = with_measured_bounds(task);
  for (TensorSpec& input : out.definition.inputs) {
    if (!model::is_floating(input.dtype)) continue;
    input.init = {model::InitKind::normal, 0, 1};
    for (model::Workload& workload : out.workloads) workload.inits.erase(input.name);
    if (!input.shape) continue;
    input.families = {model::kTransformations.begin(), model::kTransformations.end()};
    std::erase(input.families, model::Family::extremes);
    std::erase(input.families, model::Family::outliers);  // comes with scaled_up
    if (model::has_exact_output(out.definition)) std::erase(input.families, model::Family::near_ties);
  }
  return out;
}

}  // namespace accelopt::suites
