// SPDX-License-Identifier: Apache-2.0
// A CUDA driver that launches nothing and prints what it is asked to: linked with a package's launcher.
#include <cuda.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {
std::vector<std::string> functions;
}

extern "C" {
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(1);
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  *module = reinterpret_cast<CUmodule>(1);
  std::printf("load %.3s\n", static_cast<const char*>(image) + 1);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  functions.emplace_back(name);
  *function = reinterpret_cast<CUfunction>(functions.size());
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  std::printf("attribute %s %d %d\n", functions[reinterpret_cast<size_t>(function) - 1].c_str(),
              static_cast<int>(attribute), value);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream, void** parameters, void**) {
  std::printf("launch %s %u %u %u / %u %u %u / %u first %llu\n",
              functions[reinterpret_cast<size_t>(function) - 1].c_str(), gx, gy, gz, bx, by, bz, shared,
              *static_cast<unsigned long long*>(parameters[0]));
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  const CUlaunchAttributeValue& value = config->attrs[0].value;
  std::printf("cluster %s %u %u %u / %u %u %u\n", functions[reinterpret_cast<size_t>(function) - 1].c_str(),
              config->gridDimX, config->gridDimY, config->gridDimZ, value.clusterDim.x, value.clusterDim.y,
              value.clusterDim.z);
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType type, cuuint32_t rank, void*,
                                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  std::printf("map %d of %u: %llu %llu / %llu / %u %u / %d\n", static_cast<int>(type), rank,
              static_cast<unsigned long long>(extents[0]), static_cast<unsigned long long>(extents[1]),
              static_cast<unsigned long long>(strides[0]), box[0], box[1], static_cast<int>(swizzle));
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char value, size_t bytes, CUstream) {
  std::printf("set %u %zu\n", static_cast<unsigned>(value), bytes);
  return CUDA_SUCCESS;
}
}
