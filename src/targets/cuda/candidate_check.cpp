// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/candidate_check.hpp"

namespace accelopt::targets::cuda {
namespace {

std::string reason_of_missing(const std::string& name) {
  if (name == "vprintf") return "device-side printf is refused: a kernel has nowhere to print to; remove it";
  if (name == "malloc" || name == "free")
    return "device-side malloc, new and free are refused: declare //@ scratch memory instead";
  if (name == "__assertfail") return "device-side assert is refused; remove it";
  if (name.starts_with("cudaLaunch") || name.starts_with("cudaGetParameterBuffer") || name.starts_with("cudaDevice") ||
      name.starts_with("cudaCDP"))
    return "a kernel cannot launch kernels or call the CUDA runtime; write another //@ launch";
  return "the function " + name + " is called and defined nowhere";
}

}  // namespace

std::string refused_cubin(const devices::cuda::Cubin& cubin) {
  return cubin.missing.empty() ? std::string() : "error: " + reason_of_missing(cubin.missing.front());
}

}  // namespace accelopt::targets::cuda
