// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/convert.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/expression.hpp"
#include "base/text.hpp"
#include "suites/flashinfer_trace/constraints.hpp"
#include "suites/flashinfer_trace/inputs.hpp"
#include "suites/task_reader.hpp"
#include "suites/task_writer.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

using base::in_quotes;
using base::Problem;

/// Of a task.
constexpr std::size_t kMostWorkloads = 1000;
/// Of a task.toml, which may have 1 MiB.
constexpr std::size_t kRoomForValues = std::size_t{600} << 10;
/// A definition's axes, where it has no workloads, while it is looked at.
constexpr std::int64_t kAnyExtent = 4;

/// A task's description is one line; it is cut between characters.
std::string cut_line(const std::string& text) {
  constexpr std::size_t kMost = 400;
  const std::string_view line = base::first_line(text);
  std::size_t length = std::min(line.size(), kMost);
  while (length > 0 && length < line.size() && (static_cast<unsigned char>(line[length]) & 0xC0) == 0x80) --length;
  return std::string(line.substr(0, length));
}

/// One workload as a task has it.
struct Candidate {
  model::Workload workload;
  std::vector<DrawnInput> inputs;  ///< in the definition's order
  std::string uuid;
  double elements = 0;  ///< of all tensors
};

class Converter {
 public:
  Converter(const Entry& entry, std::size_t most_workloads)
      : entry_(entry), most_(most_workloads == 0 ? kMostWorkloads : std::min(most_workloads, kMostWorkloads)) {}

  base::Result<Converted> run() {
    TRY(convert_definition());
    TRY(check_definition());
    for (const Workload& workload : entry_.workloads) {
      auto candidate = candidate_of(workload);
      if (candidate) {
        candidates_.push_back(std::move(*candidate));
      } else {
        out_.lost.push_back(base::ascii_line(workload.uuid, 64) + ": " + candidate.error().message);
      }
    }
    note_constraints();
    choose();
    if (candidates_.empty()) TRY(draw_without_workload());
    take();
    out_.notes = std::vector<std::string>(notes_.begin(), notes_.end());
    return std::move(out_);
  }

 private:
  [[nodiscard]] static tl::unexpected<base::Error> unsupported(const std::string& why) {
    return base::fail(base::ErrorCode::unsupported, why);
  }

  base::Result<void> convert_definition() {
    const Definition& from = entry_.definition;
    model::Definition& definition = out_.task.definition;
    definition.name = from.name;
    definition.op_type = from.op_type;
    definition.description = cut_line(from.description);
    for (const Axis& axis : from.axes) {
      model::Axis one{axis.name, axis.value};
      if (!axis.expression.empty()) {
        if (!over_axes(axis.expression, from))
          return unsupported("axis " + axis.name + ": its expression " +
                             in_quotes(base::ascii_line(axis.expression, 100)) + " cannot be computed here");
        if (const auto value = computed(axis, constant_axes())) one.value = *value;
      }
      definition.axes.push_back(one);
    }
    TRY(convert_tensors(from.inputs, definition.inputs, "input"));
    return convert_tensors(from.outputs, definition.outputs, "output");
  }

  [[nodiscard]] model::AxisValues constant_axes() const {
    model::AxisValues values;
    for (const Axis& axis : entry_.definition.axes) {
      if (axis.value) values[axis.name] = *axis.value;
    }
    return values;
  }

  /// The axis's value, where those that it is computed from have one.
  [[nodiscard]] std::optional<std::int64_t> computed(const Axis& axis, const model::AxisValues& values) const {
    const auto expression = over_axes(axis.expression, entry_.definition);
    const auto value = base::evaluate_expression(expression.value_or(""), values);
    return value ? std::optional(*value) : std::nullopt;
  }

  base::Result<void> convert_tensors(const std::vector<Tensor>& from, std::vector<model::TensorSpec>& to,
                                     const std::string& what) {
    for (const Tensor& tensor : from) {
      const auto dtype = model::parse_dtype(tensor.dtype);
      if (!dtype)
        return unsupported(what + " " + tensor.name + ": accelopt has no dtype " + base::ascii_line(tensor.dtype, 40));
      if (!tensor.shape && what == "output")
        return unsupported("output " + tensor.name + " is a scalar; accelopt's outputs are tensors");
      model::TensorSpec spec;
      spec.name = tensor.name;
      spec.shape = tensor.shape;
      spec.dtype = *dtype;
      spec.init = {model::InitKind::zeros};  // until the workloads say more
      to.push_back(std::move(spec));
    }
    return {};
  }

  /// What the task reader says of the task with this workload; empty: it takes it.
  [[nodiscard]] std::vector<Problem> problems_with(const model::Workload& workload) const {
    model::Task task = out_.task;
    task.workloads = {workload};
    return read_task_toml(format_task_toml(task)).problems;
  }

  /// Whether a task can have these names and shapes at all.
  [[nodiscard]] base::Result<void> check_definition() const {
    model::Workload any;
    any.name = "any";
    for (const std::string& axis : variable_axes(out_.task.definition)) any.axes[axis] = kAnyExtent;
    for (const Problem& problem : problems_with(any)) {
      if (!problem.key.starts_with("workloads")) return unsupported(problem.key + ": " + problem.message);
    }
    return {};
  }

  /// Values of all axes, computed ones included.
  [[nodiscard]] base::Result<model::AxisValues> bind(const Workload& workload) const {
    model::AxisValues values = constant_axes();
    for (const Axis& axis : entry_.definition.axes) {
      const auto bound = workload.axes.find(axis.name);
      if (axis.value || !axis.expression.empty()) continue;
      if (bound == workload.axes.end()) return unsupported("binds no axis " + axis.name);
      if (bound->second < 1) return unsupported("axis " + axis.name + " is " + std::to_string(bound->second));
      values[axis.name] = bound->second;
    }
    for (std::size_t round = 0; round < entry_.definition.axes.size(); ++round) {
      for (const Axis& axis : entry_.definition.axes) {
        if (axis.expression.empty() || values.contains(axis.name)) continue;
        if (const auto value = computed(axis, values)) values[axis.name] = *value;
      }
    }
    for (const Axis& axis : entry_.definition.axes) {
      if (!values.contains(axis.name)) return unsupported("axis " + axis.name + " has no value here");
    }
    return values;
  }

  base::Result<Candidate> candidate_of(const Workload& from) {
    TRY_ASSIGN(const model::AxisValues axes, bind(from));
    for (const std::string& constraint : entry_.definition.constraints) {
      if (holds(constraint, entry_.definition, axes) == false)
        return unsupported("the constraint " + in_quotes(constraint) + " does not hold");
    }
    Candidate out;
    out.uuid = from.uuid;
    out.workload.name = name_for(from.uuid);
    for (const std::string& axis : variable_axes(out_.task.definition)) out.workload.axes[axis] = axes.at(axis);
    // Sizes first: what follows multiplies them.
    if (const auto problems = problems_with(out.workload); !problems.empty())
      return unsupported(problems.front().message.substr(0, 300));
    for (std::size_t i = 0; i < entry_.definition.inputs.size(); ++i) {
      const model::TensorSpec& spec = out_.task.definition.inputs[i];
      TRY_ASSIGN(DrawnInput drawn, drawn_input(entry_, from, entry_.definition.inputs[i], spec, axes, room_));
      out.workload.inits[spec.name] = drawn.init;
      out.inputs.push_back(std::move(drawn));
      out.elements += static_cast<double>(element_count(spec, axes));
    }
    for (const model::TensorSpec& spec : out_.task.definition.outputs)
      out.elements += static_cast<double>(element_count(spec, axes));
    if (const auto problems = problems_with(out.workload); !problems.empty())
      return unsupported(problems.front().message.substr(0, 300));
    return out;
  }

  /// A name that fits tables and file names: the beginning of the uuid, or all of it.
  std::string name_for(const std::string& uuid) {
    std::string plain;
    for (const char letter : uuid.substr(0, 64)) {
      const bool keeps = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_';
      plain += keeps ? letter : '_';
    }
    std::string name = plain.substr(0, 8);
    if (names_.contains(name)) name = plain;
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  void note_constraints() {
    for (const std::string& constraint : entry_.definition.constraints) {
      if (!over_axes(constraint, entry_.definition) && !last_element_in(constraint, entry_.definition))
        notes_.insert("constraint " + in_quotes(base::ascii_line(constraint, 200)) +
                      " is not checked: it is no expression over axes");
    }
  }

  /// Keeps those that say most: the sizes in steps, with the largest and the smallest; gives each a role.
  void choose() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.elements > b.elements; });
    const std::size_t count = candidates_.size();
    if (count > most_) {
      std::vector<Candidate> kept;
      for (std::size_t i = 0; i < most_; ++i) {
        const std::size_t place = most_ == 1 ? 0 : i * (count - 1) / (most_ - 1);
        kept.push_back(std::move(candidates_[place]));
      }
      candidates_ = std::move(kept);
      out_.left_out = count - most_;
    }
    // The largest is timed first; the smallest is cheap to verify, so it is in every evaluation; one in between is kept
    // from the search.
    if (candidates_.size() > 1) candidates_.back().workload.role = model::Role::check;
    if (candidates_.size() > 2) candidates_[candidates_.size() / 2].workload.role = model::Role::held_out;
  }

  base::Result<void> draw_without_workload() {
    for (std::size_t i = 0; i < entry_.definition.inputs.size(); ++i) {
      model::TensorSpec& spec = out_.task.definition.inputs[i];
      TRY_ASSIGN(const DrawnInput drawn, drawn_input(entry_.definition, entry_.definition.inputs[i], spec));
      spec.init = drawn.init;
      if (!drawn.note.empty()) notes_.insert(drawn.note);
    }
    return {};
  }

  /// An input is drawn as most workloads draw it; the others say so themselves.
  void take() {
    std::vector<model::TensorSpec>& inputs = out_.task.definition.inputs;
    for (std::size_t i = 0; i < inputs.size() && !candidates_.empty(); ++i) {
      std::map<std::string, int> counts;
      for (const Candidate& one : candidates_) ++counts[to_string(one.inputs[i].init)];
      const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
      const std::string most = std::max_element(counts.begin(), counts.end(), fewer)->first;
      for (Candidate& one : candidates_) {
        if (!one.inputs[i].note.empty()) notes_.insert(one.inputs[i].note);
        if (to_string(one.inputs[i].init) != most) continue;
        inputs[i].init = one.inputs[i].init;
        one.workload.inits.erase(inputs[i].name);
      }
    }
    for (Candidate& one : candidates_) {
      out_.uuids[one.workload.name] = one.uuid;
      out_.task.workloads.push_back(std::move(one.workload));
    }
  }

  const Entry& entry_;
  const std::size_t most_;
  Converted out_;
  std::vector<Candidate> candidates_;
  std::set<std::string> names_;
  std::set<std::string> notes_;
  std::size_t room_ = kRoomForValues;
};

}  // namespace

base::Result<Converted> convert(const Entry& entry, std::size_t most_workloads) {
  return Converter(entry, most_workloads).run();
}

}  // namespace accelopt::suites::flashinfer_trace
