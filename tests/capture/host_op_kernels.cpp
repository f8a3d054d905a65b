// SPDX-License-Identifier: Apache-2.0
// The kernels of host operations as plain C++, one thread after the other.
#include "capture/host_op_kernels.hpp"

#include <iterator>

#include "fakes/cuda/shim.hpp"

#include "devices/cuda/kernels/elements.cuh"

#include "capture/kernels/host_ops.cu"

ACCELOPT_FAKE_KERNEL(accelopt_host_fill)
ACCELOPT_FAKE_KERNEL(accelopt_host_copy)
ACCELOPT_FAKE_KERNEL(accelopt_host_copy_plain)
ACCELOPT_FAKE_KERNEL(accelopt_host_upload)
ACCELOPT_FAKE_KERNEL(accelopt_host_gather)
ACCELOPT_FAKE_KERNEL(accelopt_host_reduce_each)
ACCELOPT_FAKE_KERNEL(accelopt_host_reduce)
ACCELOPT_FAKE_KERNEL(accelopt_host_reduce_last)

namespace accelopt::capture {

#define ACCELOPT_ENTRY(name) \
  { #name, name##__launch, name##__parameter }

const HostOpKernel* host_op_kernel(const std::string& name) {
  static const HostOpKernel kKernels[] = {
      ACCELOPT_ENTRY(accelopt_host_fill),       ACCELOPT_ENTRY(accelopt_host_copy),
      ACCELOPT_ENTRY(accelopt_host_copy_plain), ACCELOPT_ENTRY(accelopt_host_upload),
      ACCELOPT_ENTRY(accelopt_host_gather),     ACCELOPT_ENTRY(accelopt_host_reduce_each),
      ACCELOPT_ENTRY(accelopt_host_reduce),     ACCELOPT_ENTRY(accelopt_host_reduce_last)};
  for (const HostOpKernel& kernel : kKernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace accelopt::capture
