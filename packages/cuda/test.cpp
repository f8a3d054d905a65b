// Compares @NAME@ with the reference on the device, on inputs as the task draws them. Exits with 1 if it is wrong, with
// 77 where there is no device. @NAME@ NAME: on the workload NAME alone.
#include <cuda.h>

#include <cstdlib>

#include "check.hpp"
#include "tables.hpp"

namespace {

void must(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(code, &text);
  std::printf("%s: %s\n", what, text != nullptr ? text : "an error without a text");
  std::exit(1);
}

class Memory {
 public:
  explicit Memory(size_t bytes) { must(cuMemAlloc(&at_, std::max<size_t>(bytes, 16)), "cuMemAlloc"); }
  Memory(const Memory&) = delete;
  Memory(Memory&& other) noexcept : at_(std::exchange(other.at_, 0)) {}
  ~Memory() {
    if (at_ != 0) cuMemFree(at_);
  }
  [[nodiscard]] CUdeviceptr at() const { return at_; }

 private:
  CUdeviceptr at_ = 0;
};

using Results = std::vector<std::vector<double>>;

/// `real`: what every floating tensor is for the reference; boolean: the tensors' own types.
template <class Function>
Results call(const Function& function, const Workload& workload, const std::vector<std::vector<double>>& values,
             Type real) {
  std::vector<std::vector<unsigned char>> buffers;
  std::vector<Type> types;
  std::vector<Memory> memory;
  std::vector<void*> arguments;
  for (size_t i = 0; i < workload.tensors.size(); ++i) {
    const Tensor& tensor = workload.tensors[i];
    types.push_back(real != Type::boolean && is_floating(tensor.type) ? real : tensor.type);
    if (tensor.part == Part::output)
      buffers.emplace_back(count_of(tensor) * size_of(types[i]), 0xFF);
    else
      buffers.push_back(encode(values[i], types[i]));
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (workload.tensors[i].part == Part::scalar || on_host(real)) {
      arguments.push_back(buffers[i].data());
      continue;
    }
    const Memory& added = memory.emplace_back(buffers[i].size());
    must(cuMemcpyHtoD(added.at(), buffers[i].data(), buffers[i].size()), "copying an input");
    arguments.push_back(reinterpret_cast<void*>(added.at()));
  }
  std::vector<int64_t> axes = workload.axes;
  for (int64_t& axis : axes) arguments.push_back(&axis);
  const Memory scratch(function.scratch_bytes(arguments.data()));
  must(cuMemsetD8(scratch.at(), 0xFF, std::max<size_t>(function.scratch_bytes(arguments.data()), 16)),
       "filling the scratch memory");
  must(function.launch(nullptr, reinterpret_cast<void*>(scratch.at()), arguments.data()), "launching");
  must(cuCtxSynchronize(), "running");
  Results out;
  size_t place = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Part part = workload.tensors[i].part;
    if (part == Part::scalar) continue;
    if (part != Part::input) {
      if (!on_host(real))
        must(cuMemcpyDtoH(buffers[i].data(), memory[place].at(), buffers[i].size()), "copying an output");
      out.push_back(decode(buffers[i], types[i]));
    }
    ++place;
  }
  return out;
}

bool passes(const Workload& workload) {
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> values;
  for (const Tensor& tensor : workload.tensors)
    values.push_back(tensor.part == Part::output ? std::vector<double>() : draw(tensor, random));
  const Results exact = call(kReferenceDouble, workload, values, Type::float64);
  const Results single = call(kReferenceFloat, workload, values, Type::float32);
  const Results actual = call(kKernel, workload, values, Type::boolean);
  bool right = true;
  size_t output = 0;
  for (const Tensor& tensor : workload.tensors) {
    if (tensor.part != Part::output && tensor.part != Part::inout) continue;
    right = compare(tensor, exact[output], single[output], actual[output], kTolerance) && right;
    ++output;
  }
  return right;
}

}  // namespace

int main(int count, char** arguments) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) {
    std::printf("no CUDA device\n");
    return 77;
  }
  must(cuDevicePrimaryCtxRetain(&context, device), "opening the device");
  must(cuCtxSetCurrent(context), "opening the device");
  bool right = true;
  for (const Workload& workload : kWorkloads) {
    if (count > 1 ? workload.name != arguments[1] : !workload.quick) continue;
    std::printf("%s\n", workload.name.c_str());
    right = passes(workload) && right;
  }
  std::printf("%s\n", right ? "passed" : "FAILED");
  return right ? 0 : 1;
}
