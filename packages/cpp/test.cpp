// Compares @NAME@ with the reference on inputs as the task draws them; --all: on every workload. Exits with 1 if it is
// wrong.
#include "check.hpp"
#include "tables.hpp"

namespace {

struct Results {
  std::vector<std::vector<double>> outputs;  // of the tensors that are outputs, in their order
};

using Function = void (*)(void* const*);

/// `real`: what every floating tensor is for the reference; boolean: the tensors' own types.
Results call(Function function, const Workload& workload, const std::vector<std::vector<double>>& values, Type real) {
  std::vector<std::vector<unsigned char>> buffers;
  std::vector<Type> types;
  for (size_t i = 0; i < workload.tensors.size(); ++i) {
    const Tensor& tensor = workload.tensors[i];
    types.push_back(real != Type::boolean && is_floating(tensor.type) ? real : tensor.type);
    if (tensor.part == Part::output)
      buffers.emplace_back(count_of(tensor) * size_of(types[i]), 0xFF);
    else
      buffers.push_back(encode(values[i], types[i]));
  }
  std::vector<int64_t> axes = workload.axes;
  std::vector<void*> arguments;
  for (auto& buffer : buffers) arguments.push_back(buffer.data());
  for (int64_t& axis : axes) arguments.push_back(&axis);
  function(arguments.data());
  Results out;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Part part = workload.tensors[i].part;
    if (part == Part::output || part == Part::inout) out.outputs.push_back(decode(buffers[i], types[i]));
  }
  return out;
}

bool passes(const Workload& workload) {
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> values;
  for (const Tensor& tensor : workload.tensors)
    values.push_back(tensor.part == Part::output ? std::vector<double>() : draw(tensor, random));
  const Results exact = call(call_reference_double, workload, values, Type::float64);
  const Results single = call(call_reference_float, workload, values, Type::float32);
  const Results actual = call(call_kernel, workload, values, Type::boolean);
  bool right = true;
  size_t output = 0;
  for (const Tensor& tensor : workload.tensors) {
    if (tensor.part != Part::output && tensor.part != Part::inout) continue;
    right = compare(tensor, exact.outputs[output], single.outputs[output], actual.outputs[output], kTolerance) && right;
    ++output;
  }
  return right;
}

}  // namespace

int main(int count, char** arguments) {
  const bool all = count > 1 && std::string(arguments[1]) == "--all";
  bool right = true;
  for (const Workload& workload : kWorkloads) {
    if (!all && !workload.quick) continue;
    std::printf("%s\n", workload.name.c_str());
    right = passes(workload) && right;
  }
  std::printf("%s\n", right ? "passed" : "FAILED");
  return right ? 0 : 1;
}
