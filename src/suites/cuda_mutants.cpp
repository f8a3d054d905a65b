// SPDX-License-Identifier: Apache-2.0
// The baseline's launches stay what they are: others that run before give them changed copies of the inputs, and others
// that run after them spoil the outputs.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.hpp"
#include "model/launch_plan.hpp"
#include "suites/mutant_text.hpp"

namespace accelopt::suites {
namespace {

using model::DType;
using model::TensorSpec;

constexpr const char* kNoSharedAxis = "no output has the last axis of a floating input as its own";
constexpr const char* kNoMaximum = "the baseline takes no maximum with fmaxf and the like, or no exponential";

/// Names that a launch passes on instead of the kernel's own.
using Renamed = std::map<std::string, std::string>;

std::string cuda_type(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "__half";
    case DType::bfloat16:
      return "__nv_bfloat16";
    case DType::float8_e4m3fn:
      return "__nv_fp8_e4m3";
    case DType::float8_e5m2:
      return "__nv_fp8_e5m2";
    default:
      return std::string(model::c_name(dtype));
  }
}

/// Arithmetic in double for double and in float for all smaller types.
std::string number_of(DType dtype, const std::string& element) {
  return (dtype == DType::float64 ? "(double)(" : "(float)(") + element + ")";
}

std::string renamed(const std::string& name, const Renamed& names) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

std::string list_of(const char* key, const std::vector<model::PlacedExpression>& items, const Renamed& names) {
  if (items.empty()) return {};
  std::string out =
      base::joined(items, ", ", [&](const model::PlacedExpression& item) { return renamed(item.text, names); });
  return std::string(" ") + key + "=(" + out + ")";
}

constexpr const char* kDeviceRounding = R"(
__device__ inline float mutant_rounded(float value, unsigned dropped) {
  unsigned bits = __float_as_uint(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  bits += ((1u << (dropped - 1)) - 1u) + ((bits >> dropped) & 1u);
  return __uint_as_float(bits >> dropped << dropped);
}
)";

/// One mutant's text as it comes into being.
struct Draft {
  std::string scratch;  ///< directives
  std::string before;   ///< launches, in order
  std::size_t at = 0;   ///< the baseline's launch ...
  std::string between;  ///< ... before which these run
  std::string after;
  std::string code;
  Renamed names;  ///< what the baseline's launches are given instead
};

class CudaMutantGenerator {
 public:
  CudaMutantGenerator(const model::Task& task, model::DeviceDirectives directives)
      : task_(task), definition_(task.definition), directives_(std::move(directives)) {}

  std::vector<Mutant> generate() {
    for_outputs(MutantKind::zeros, "zeros", &CudaMutantGenerator::zeros);
    for_outputs(MutantKind::constant, "constant", &CudaMutantGenerator::constant);
    for_outputs(MutantKind::copy, "copy of input", &CudaMutantGenerator::copy);
    for_outputs(MutantKind::last_tile, "last tile skipped", &CudaMutantGenerator::last_tile);
    shorten_reductions();
    shorten_statistics();
    delay_statistics();
    take_wrong_maximum();
    mutants_.push_back(of_source(task_, MutantKind::maximum, "maximum not subtracted",
                                 "the baseline with 0 for every maximum",
                                 without_maximum(model::main_text(task_.baseline)), kNoMaximum));
    for_outputs(MutantKind::row, "one row unwritten", &CudaMutantGenerator::row);
    mutate_input();
    mutants_.push_back(without_epsilon(task_));
    std::ranges::move(with_changed_comparisons(task_), std::back_inserter(mutants_));
    for (const Rounding& rounding : roundings()) add_rounded(rounding);
    return std::move(mutants_);
  }

 private:
  /// A launch after the baseline's that spoils one output; or why it does not apply.
  struct Spoiled {
    Draft draft;
    std::string does;
    std::string skipped;
  };

  void for_outputs(MutantKind kind, const std::string& name,
                   Spoiled (CudaMutantGenerator::*spoil)(const TensorSpec&) const) {
    const bool several = definition_.outputs.size() > 1;
    for (const TensorSpec& output : definition_.outputs) {
      Spoiled spoiled = (this->*spoil)(output);
      add(kind, several ? name + " (output " + output.name + ")" : name, spoiled.does, spoiled.skipped, spoiled.draft);
    }
  }

  void add(MutantKind kind, std::string name, std::string does, std::string skipped, const Draft& draft) {
    Mutant mutant{kind, std::move(name), std::move(does), std::move(skipped), {}};
    if (mutant.skipped.empty()) mutant.solution = solution(draft);
    mutants_.push_back(std::move(mutant));
  }

  [[nodiscard]] model::Solution solution(const Draft& draft) const {
    model::Solution out = task_.baseline;
    model::SourceFile& file = out.sources.front();
    const std::string scratch = scratch_and_maps({}, {});
    file.text = draft.scratch + scratch + draft.before + launches(draft.names, draft) + draft.after + kDeviceRounding +
                draft.code + without_plan(file.text);
    return out;
  }

  /// The baseline's text with its launches, scratch tensors and tensor maps as plain comments.
  [[nodiscard]] std::string without_plan(const std::string& text) const {
    std::set<int> lines;
    for (const auto& one : directives_.launches) lines.insert(one.line);
    for (const auto& one : directives_.scratch) lines.insert(one.line);
    for (const auto& one : directives_.tensor_maps) lines.insert(one.line);
    std::string out;
    int number = 1;
    for (std::size_t at = 0; at < text.size(); ++number) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      std::string line = text.substr(at, end - at);
      if (const auto mark = line.find("//@"); lines.contains(number) && mark != std::string::npos)
        line.erase(mark + 2, 1);
      out += line;
      at = end;
    }
    return out;
  }

  /// The baseline's own, under the names that `own` gives them; tensor maps are of what `names` says.
  [[nodiscard]] std::string scratch_and_maps(const Renamed& own, const Renamed& names) const {
    std::string out;
    for (const model::ScratchDirective& one : directives_.scratch) {
      std::string shape = base::joined(one.shape, ", ", &model::PlacedExpression::text);
      out += "//@ scratch " + renamed(one.name, own) + " " + std::string(model::to_string(one.dtype)) + " [" + shape +
             "]" + (one.zero ? " zero" : "") + "\n";
    }
    for (const model::TensorMapDirective& one : directives_.tensor_maps) {
      out += "//@ tensormap " + renamed(one.name, own) + " of " + renamed(one.tensor.text, names) +
             list_of("box", one.box, {}) +
             (one.swizzle_bytes > 0 ? " swizzle=" + std::to_string(one.swizzle_bytes) + "B" : "") + "\n";
    }
    return out;
  }

  [[nodiscard]] std::string launches(const Renamed& names, const Draft& draft = {}) const {
    std::string out;
    for (const model::LaunchDirective& one : directives_.launches) {
      if (&one == &directives_.launches[draft.at]) out += draft.between;
      out += "//@ launch " + one.kernel + list_of("grid", one.grid, {}) + list_of("block", one.block, {}) +
             (one.smem ? " smem=" + one.smem->text : "") + list_of("cluster", one.cluster, {}) +
             list_of("args", one.args, names) + "\n";
    }
    return out;
  }

  /// A kernel of its own over `count` elements, or, of a whole block, `body` alone.
  struct Step {
    std::string kernel;
    std::vector<std::pair<std::string, std::string>> parameters;  ///< type and name
    std::string count;                                            ///< empty: the body is run once by 1024 threads
    std::string body;                                             ///< of element i
  };

  /// The kernel's code goes to the draft; its launch is returned.
  [[nodiscard]] std::string launch_of(const Step& step, Draft& draft) const {
    std::string parameters;
    std::string args;
    const auto add = [&](const std::string& type, const std::string& name) {
      parameters += (parameters.empty() ? "" : ", ") + type + " " + name;
      args += (args.empty() ? "" : ", ") + name;
    };
    for (const auto& [type, name] : step.parameters) add(type, name);
    for (const std::string& axis : model::variable_axes(definition_)) add("int64_t", axis);
    const std::string loop = "  for (int64_t mutant_i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; mutant_i < " +
                             step.count + "; mutant_i += (int64_t)gridDim.x * blockDim.x) {\n";
    draft.code += "extern \"C\" __global__ void " + step.kernel + "(" + parameters + ") {\n" +
                  (step.count.empty() ? step.body : loop + step.body + "  }\n") + "}\n";
    return "//@ launch " + step.kernel + (step.count.empty() ? " grid=(1) block=(1024)" : " grid=(256) block=(256)") +
           " args=(" + args + ")\n";
  }

  [[nodiscard]] static std::pair<std::string, std::string> read_only(const TensorSpec& tensor) {
    return {"const " + cuda_type(tensor.dtype) + "*", tensor.name};
  }
  [[nodiscard]] static std::pair<std::string, std::string> written(const TensorSpec& tensor, const std::string& name) {
    return {cuda_type(tensor.dtype) + "*", name};
  }

  [[nodiscard]] Spoiled after_baseline(const TensorSpec& output, const std::string& count, const std::string& body,
                                       std::string does) const {
    Spoiled out{{}, std::move(does), {}};
    out.draft.after = launch_of({"mutant_spoil", {written(output, output.name)}, count, body}, out.draft);
    return out;
  }

  [[nodiscard]] Spoiled zeros(const TensorSpec& output) const {
    return after_baseline(output, elements(output),
                          "    " + output.name + "[mutant_i] = (" + cuda_type(output.dtype) + ")0.0f;\n",
                          "every element of " + output.name + " is 0");
  }

  [[nodiscard]] Spoiled constant(const TensorSpec& output) const {
    const std::string& y = output.name;
    if (most_elements(task_, output) < 2) return {{}, {}, "output " + y + " has one element only"};
    const std::string type = cuda_type(output.dtype);
    if (!model::is_floating(output.dtype)) {
      return after_baseline(output, {},
                            "  const " + type + " mutant_value = " + y + "[0];\n  __syncthreads();\n" +
                                "  for (int64_t mutant_i = threadIdx.x; mutant_i < " + elements(output) +
                                "; mutant_i += 1024) " + y + "[mutant_i] = mutant_value;\n",
                            "every element of " + y + " is the first one");
    }
    return after_baseline(
        output, {},
        "  __shared__ double mutant_sums[1024];\n  const int64_t mutant_count = " + elements(output) +
            ";\n  mutant_sums[threadIdx.x] = 0;\n" +
            "  for (int64_t mutant_i = threadIdx.x; mutant_i < mutant_count; mutant_i += 1024) "
            "mutant_sums[threadIdx.x] += " +
            number_of(output.dtype, y + "[mutant_i]") +
            ";\n  __syncthreads();\n  for (int mutant_half = 512; mutant_half > 0; mutant_half /= 2) {\n" +
            "    if (threadIdx.x < mutant_half) mutant_sums[threadIdx.x] += mutant_sums[threadIdx.x + mutant_half];\n" +
            "    __syncthreads();\n  }\n  const double mutant_mean = mutant_sums[0] / (double)mutant_count;\n" +
            "  for (int64_t mutant_i = threadIdx.x; mutant_i < mutant_count; mutant_i += 1024) " + y +
            "[mutant_i] = (" + type + ")" + number_of(output.dtype, "mutant_mean") + ";\n",
        "every element of " + y + " is their mean");
  }

  [[nodiscard]] Spoiled copy(const TensorSpec& output) const {
    const TensorSpec* const source = source_of_copy(definition_, output);
    if (source == nullptr) return {{}, {}, "no input tensor has the type of output " + output.name};
    Spoiled out{{}, output.name + " is a copy of " + source->name, {}};
    out.draft.after = launch_of(
        {"mutant_spoil",
         {written(output, output.name), read_only(*source)},
         elements(output),
         "    " + output.name + "[mutant_i] = " + source->name + "[mutant_i % (" + elements(*source) + ")];\n"},
        out.draft);
    return out;
  }

  [[nodiscard]] Spoiled last_tile(const TensorSpec& output) const {
    const std::string& y = output.name;
    if (most_elements(task_, output) < 2) return {{}, {}, "output " + y + " has one element only"};
    return after_baseline(
        output, elements(output),
        "    const int64_t mutant_count = " + elements(output) +
            ", mutant_first = mutant_count > 8 ? mutant_count - 8 : 1;\n    if (mutant_i >= mutant_first) " + y +
            "[mutant_i] = " + y + "[mutant_first - 1];\n",
        "the last 8 elements of " + y + " repeat the one before them");
  }

  [[nodiscard]] Spoiled row(const TensorSpec& output) const {
    const std::string& y = output.name;
    if (!output.shape || output.shape->size() < 2) return {{}, {}, "output " + y + " has no row axis"};
    TensorSpec first_axes = output;
    first_axes.shape->pop_back();
    if (most_elements(task_, first_axes) < 2) return {{}, {}, "output " + y + " has one row only"};
    return after_baseline(output, output.shape->back(),
                          "    const int64_t mutant_rows = " + elements(first_axes) + ";\n    if (mutant_rows > 1) " +
                              y + "[mutant_rows / 2 * " + output.shape->back() + " + mutant_i] = " + y +
                              "[(mutant_rows / 2 - 1) * " + output.shape->back() + " + mutant_i];\n",
                          "one row of " + y + " in the middle repeats the row before it");
  }

  /// A changed copy of the input goes to the baseline; `value` is that of element i, which `element` names.
  void change_input(Draft& draft, const TensorSpec& input, const std::string& statements,
                    const std::string& value) const {
    const std::string changed = "mutant_changed_" + input.name;
    std::string shape = base::joined(*input.shape, ", ");
    draft.scratch += "//@ scratch " + changed + " " + std::string(model::to_string(input.dtype)) + " [" +
                     (shape.empty() ? "1" : shape) + "]\n";
    draft.before += launch_of({"mutant_change_" + input.name,
                               {read_only(input), written(input, changed)},
                               elements(input),
                               statements + "    " + changed + "[mutant_i] = " + value + ";\n"},
                              draft);
    draft.names[input.name] = changed;
  }

  /// Tensor maps of changed inputs are maps of their copies.
  [[nodiscard]] bool maps_an_input() const {
    return std::any_of(directives_.tensor_maps.begin(), directives_.tensor_maps.end(), [&](const auto& map) {
      return std::any_of(definition_.inputs.begin(), definition_.inputs.end(),
                         [&](const TensorSpec& input) { return input.name == map.tensor.text; });
    });
  }

  void add_on_changed(MutantKind kind, std::string name, std::string does, Draft draft) {
    if (maps_an_input()) return add_in_second_run(kind, std::move(name), std::move(does), std::move(draft), {});
    add(kind, std::move(name), std::move(does), {}, draft);
  }

  /// The last part of an axis counts as 0.
  void shorten_along(Draft& draft, const std::string& axis) const {
    for (const TensorSpec& input : definition_.inputs) {
      if (!has_axis(input, axis) || !model::is_floating(input.dtype)) continue;
      const std::vector<std::string>& shape = *input.shape;
      const auto place = static_cast<std::size_t>(std::find(shape.begin(), shape.end(), axis) - shape.begin());
      change_input(draft, input,
                   "    const int64_t mutant_extent = " + axis + ", mutant_skipped = " + kSkipped +
                       ";\n    const int64_t mutant_place = mutant_i / (" + product(shape, place + 1, shape.size()) +
                       ") % mutant_extent;\n",
                   "mutant_place >= mutant_extent - mutant_skipped ? (" + cuda_type(input.dtype) +
                       ")0.0f : " + input.name + "[mutant_i]");
    }
  }

  void shorten_reductions() {
    const std::vector<std::string> reduced = reduced_axes(definition_);
    const std::string name = "1 % of the reduction skipped";
    if (reduced.empty()) {
      add(MutantKind::reduction, name, {}, "every axis of the floating inputs is also one of the outputs", {});
    }
    for (const std::string& axis : reduced) {
      Draft draft;
      shorten_along(draft, axis);
      add_on_changed(MutantKind::reduction, reduced.size() > 1 ? name + " (over " + axis + ")" : name,
                     "the last 1 % along " + axis + " (at least one) counts as 0", std::move(draft));
    }
  }

  /// The baseline runs twice: all that it makes of inputs whose elements come one place later goes to the outputs, one
  /// place back. A statistic has then seen the first element twice, and the last one not yet.
  void delay_statistics() {
    const std::vector<std::string> shared = shared_last_axes(definition_);
    const std::string name = "statistics an element late";
    if (shared.empty()) add(MutantKind::statistics, name, {}, kNoSharedAxis, {});
    for (const std::string& axis : shared) {
      Draft draft;
      for (const TensorSpec& input : definition_.inputs) {
        if (!has_axis(input, axis) || !model::is_floating(input.dtype)) continue;
        const std::string stride = stride_of(*input.shape, axis);
        change_input(draft, input, {},
                     "mutant_i / (" + stride + ") % " + axis + " > 0 ? " + input.name + "[mutant_i - (" + stride +
                         ")] : " + input.name + "[mutant_i]");
      }
      add_in_second_run(MutantKind::statistics, shared.size() > 1 ? name + " (over " + axis + ")" : name,
                        "what is computed over all of " + axis + " has the first element twice and lacks the last one",
                        std::move(draft), axis, Taken::one_place_back);
    }
  }

  [[nodiscard]] static std::string stride_of(const std::vector<std::string>& shape, const std::string& axis) {
    const auto place = static_cast<std::size_t>(std::find(shape.begin(), shape.end(), axis) - shape.begin());
    return product(shape, place + 1, shape.size());
  }

  /// A tensor of rows, and the launch that is the first to read it.
  struct Rows {
    std::size_t launch = 0;
    std::string name;
    DType dtype = DType::float32;
    std::vector<std::string> shape;
    const TensorSpec* input = nullptr;  ///< that it is; it is changed in a copy
  };

  /// What an exponential's maximum is taken of: what launches pass on to each other, else an input with an output's
  /// last axis.
  [[nodiscard]] std::optional<Rows> rows_of_maximum() const {
    std::vector<Rows> passed_on;
    for (const TensorSpec& output : definition_.outputs)
      if (output.shape) passed_on.push_back({0, output.name, output.dtype, *output.shape});
    for (const model::ScratchDirective& scratch : directives_.scratch) {
      Rows rows{0, scratch.name, scratch.dtype, {}};
      for (const model::PlacedExpression& extent : scratch.shape) {
        const bool axis = std::any_of(definition_.axes.begin(), definition_.axes.end(),
                                      [&](const model::Axis& one) { return one.name == extent.text; });
        if (axis) rows.shape.push_back(extent.text);
      }
      if (rows.shape.size() == scratch.shape.size()) passed_on.push_back(std::move(rows));
    }
    for (Rows& rows : passed_on) {
      int seen = 0;
      for (rows.launch = 0; rows.launch < directives_.launches.size(); ++rows.launch) {
        const auto& args = directives_.launches[rows.launch].args;
        seen += std::any_of(args.begin(), args.end(), [&](const auto& arg) { return arg.text == rows.name; });
        if (seen == 2 && rows.shape.size() >= 2 && model::is_floating(rows.dtype)) return rows;
      }
    }
    const std::vector<std::string> shared = shared_last_axes(definition_);
    for (const TensorSpec& input : definition_.inputs) {
      if (!input.shape || input.shape->size() < 2 || !model::is_floating(input.dtype) || maps_an_input()) continue;
      if (std::find(shared.begin(), shared.end(), input.shape->back()) != shared.end())
        return Rows{0, "mutant_changed_" + input.name, input.dtype, *input.shape, &input};
    }
    return std::nullopt;
  }

  /// From every row what is the maximum of the columns is subtracted, before the baseline takes the row's own.
  void take_wrong_maximum() {
    const std::string name = "maximum over the wrong axis";
    const auto rows = rows_of_maximum();
    if (!without_maximum(task_.baseline.sources.front().text) || !rows) {
      add(MutantKind::maximum, name, {}, rows ? kNoMaximum : "no tensor with rows reaches the maximum", {});
      return;
    }
    Draft draft;
    if (rows->input != nullptr) change_input(draft, *rows->input, {}, rows->input->name + "[mutant_i]");
    draft.at = rows->launch;
    const std::size_t axes = rows->shape.size();
    const std::string columns = rows->shape.back();
    const std::string element = "mutant_first[mutant_row * mutant_columns]";
    draft.between = launch_of(
        {"mutant_wrong_maximum",
         {{cuda_type(rows->dtype) + "*", rows->name}},
         "(" + product(rows->shape, 0, axes - 2) + ") * " + columns,
         "    const int64_t mutant_rows = " + rows->shape[axes - 2] + ", mutant_columns = " + columns + ";\n    " +
             cuda_type(rows->dtype) + "* const mutant_first = " + rows->name +
             " + mutant_i / mutant_columns * mutant_rows * mutant_columns + mutant_i % mutant_columns;\n    auto "
             "mutant_largest = " +
             number_of(rows->dtype, "mutant_first[0]") +
             ";\n    for (int64_t mutant_row = 1; mutant_row < mutant_rows; ++mutant_row) mutant_largest = " +
             number_of(rows->dtype, element) + " > mutant_largest ? " + number_of(rows->dtype, element) +
             " : mutant_largest;\n    for (int64_t mutant_row = 0; mutant_row < mutant_rows; ++mutant_row) " + element +
             " = (" + cuda_type(rows->dtype) + ")(" + number_of(rows->dtype, element) + " - mutant_largest);\n"},
        draft);
    add(MutantKind::maximum, name, "the maximum over " + rows->shape[axes - 2] + " is subtracted along " + columns, {},
        draft);
  }

  /// The baseline runs twice: what it makes of shortened inputs goes to the outputs, but for the part that was left
  /// out, which is right. Only what a statistic over the axis reaches is wrong then.
  void shorten_statistics() {
    const std::vector<std::string> shared = shared_last_axes(definition_);
    const std::string name = "1 % left out of the statistics";
    if (shared.empty()) {
      add(MutantKind::statistics, name, {}, kNoSharedAxis, {});
    }
    for (const std::string& axis : shared) {
      Draft draft;
      shorten_along(draft, axis);
      add_in_second_run(MutantKind::statistics, shared.size() > 1 ? name + " (over " + axis + ")" : name,
                        "what is computed over all of " + axis + " is computed without its last 1 % (at least one)",
                        std::move(draft), axis);
    }
  }

  enum class Taken { but_the_end, one_place_back };
  /// Runs the baseline as it is, then once more with scratch tensors, maps and outputs of its own, on the changed
  /// inputs; takes its outputs but for the last part of `axis`, or one place back along it, or, without one, whole.
  void add_in_second_run(MutantKind kind, std::string name, std::string does, Draft draft, const std::string& axis,
                         Taken kept = Taken::but_the_end) {
    if (2 * directives_.launches.size() + definition_.inputs.size() + definition_.outputs.size() > 64) {
      add(kind, std::move(name), {}, "the baseline has too many launches to run it twice", {});
      return;
    }
    Renamed names = draft.names;
    Renamed own;
    for (const auto& one : directives_.scratch) own[one.name] = names[one.name] = "mutant_again_" + one.name;
    for (const auto& one : directives_.tensor_maps) own[one.name] = names[one.name] = "mutant_again_" + one.name;
    std::string taken;
    for (const TensorSpec& output : definition_.outputs) {
      const std::string again = "mutant_again_" + output.name;
      std::string shape = base::joined(*output.shape, ", ");
      draft.scratch += "//@ scratch " + again + " " + std::string(model::to_string(output.dtype)) + " [" +
                       (shape.empty() ? "1" : shape) + "]\n";
      names[output.name] = again;
      std::string condition;
      std::string place;
      std::string from = "mutant_i";
      if (has_axis(output, axis) && kept == Taken::one_place_back) {
        const std::string stride = stride_of(*output.shape, axis);
        condition = "if (mutant_i / (" + stride + ") % " + axis + " + 1 < " + axis + ") ";
        from = "mutant_i + (" + stride + ")";
      } else if (has_axis(output, axis)) {
        const auto at = static_cast<std::size_t>(std::find(output.shape->begin(), output.shape->end(), axis) -
                                                 output.shape->begin());
        place = "    const int64_t mutant_extent = " + axis + ", mutant_skipped = " + kSkipped +
                ";\n    const int64_t mutant_place = mutant_i / (" +
                product(*output.shape, at + 1, output.shape->size()) + ") % mutant_extent;\n";
        condition = "if (mutant_place < mutant_extent - mutant_skipped) ";
      }
      taken += launch_of({"mutant_take_" + output.name,
                          {{"const " + cuda_type(output.dtype) + "*", again}, written(output, output.name)},
                          elements(output),
                          place + "    " + condition + output.name + "[mutant_i] = " + again + "[" + from + "];\n"},
                         draft);
    }
    draft.scratch += scratch_and_maps(own, names);
    draft.after = draft.before + launches(names) + taken;
    draft.before.clear();
    draft.names.clear();
    add(kind, std::move(name), std::move(does), {}, draft);
  }

  void mutate_input() {
    const auto input = std::find_if(definition_.inputs.begin(), definition_.inputs.end(),
                                    [](const TensorSpec& one) { return one.shape.has_value(); });
    const std::string name = "inputs mutated";
    if (input == definition_.inputs.end()) {
      add(MutantKind::mutated_input, name, {}, "there is no input tensor", {});
      return;
    }
    Draft draft;
    draft.after = launch_of(
        {"mutant_write", {read_only(*input)}, "1", "    *(volatile unsigned char*)" + input->name + " ^= 1;\n"}, draft);
    add(MutantKind::mutated_input, name, "the baseline, which then writes into " + input->name, {}, draft);
  }

  void add_rounded(const Rounding& rounding) {
    std::string to;
    Draft draft;
    for (const TensorSpec& input : definition_.inputs) {
      if (!input.shape || !model::is_floating(input.dtype) || !rounding.applies(input.dtype)) continue;
      to = rounding.to(input.dtype);
      const std::string element = input.name + "[mutant_i]";
      const std::string value =
          input.dtype == DType::float64
              ? "(float)" + element
              : "mutant_rounded((float)" + element + ", " + std::to_string(dropped_bits(rounding, input.dtype)) + ")";
      change_input(draft, input, {}, "(" + cuda_type(input.dtype) + ")" + value);
    }
    const std::string reason =
        to.empty() ? "no input tensor has a floating type with a lower one below it" : refuse_rounding(definition_);
    if (reason.empty()) {
      add_on_changed(MutantKind::lower_precision, rounding.name, "the baseline on inputs rounded to " + to,
                     std::move(draft));
    } else {
      add(MutantKind::lower_precision, rounding.name, {}, reason, {});
    }
  }

  const model::Task& task_;
  const model::Definition& definition_;
  model::DeviceDirectives directives_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> derive_cuda_mutants(const model::Task& task) {
  auto directives = model::parse_device_directives(task.baseline.sources.front().text);
  // Lint has refused a baseline whose directives cannot be read before it asks for mutants.
  if (!directives) return {};
  return CudaMutantGenerator(task, std::move(*directives)).generate();
}

}  // namespace accelopt::suites
