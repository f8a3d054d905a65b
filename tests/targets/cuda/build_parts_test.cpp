// SPDX-License-Identifier: Apache-2.0
// The builder's parts that need neither NVRTC nor a device.
#include <gtest/gtest.h>

#include "devices/cuda/cubin.hpp"
#include "targets/cuda/candidate_check.hpp"
#include "targets/cuda/cuda_task.hpp"
#include "targets/cuda/diagnostics.hpp"
#include "targets/cuda/nvrtc_protocol.hpp"
#include "targets/cuda/resources.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

using namespace devices::cuda;

TEST(NvrtcProtocol, GivesBackWhatWasPacked) {
  NvrtcRequest request{"lib.so", "kernel.cu", std::string("a\0b:3", 5), {"-x", ""}, {{"h", "text"}}};
  const auto read = unpack_request(pack(request));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->source, request.source);
  EXPECT_EQ(read->options, request.options);
  EXPECT_EQ(read->headers, request.headers);
  NvrtcReply reply;
  reply.architectures = {80, 90};
  reply.result = 6;
  reply.log = "1:2:3";
  const auto back = unpack_reply(pack(reply));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->architectures, reply.architectures);
  EXPECT_EQ(back->result, 6);
  EXPECT_EQ(back->log, reply.log);
}

TEST(NvrtcProtocol, EveryCutIsNoticed) {
  NvrtcReply reply;
  reply.cubin = "cubin";
  const std::string whole = pack(reply);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(unpack_reply(whole.substr(0, size))) << size;
  EXPECT_FALSE(unpack_reply(whole + "x"));
  EXPECT_FALSE(unpack_reply("accelopt-nvrtc-reply-1\n99999999999999999999:"));
  EXPECT_FALSE(unpack_request("accelopt-nvrtc-request-1\n0:0:0:9:999999999"));
}

TEST(DeviceDiagnostics, KeepsOwnLinesAndDropsPaths) {
  const std::string log =
      "kernel.cu(12): error: identifier \"foo\" is undefined\n    y = foo;\n        ^\n\n"
      "/usr/local/cuda/include/mma.h(3): error: no\n  secret text of a file\n  ^\n\n"
      "/etc/passwd(1): error: expected a \";\"\n  root:x:0\n  ^\n\n"
      "kernel.cu(13): warning #177-D: variable \"a\" was declared but never referenced\n    int a;\n        ^\n\n"
      "2 errors detected in the compilation of \"kernel.cu\".\n";
  EXPECT_EQ(device_diagnostics(log, {"kernel.cu"}),
            "kernel.cu:12:7: error: identifier \"foo\" is undefined\n    y = foo;\n        ^\n"
            "error in mma.h, a header: no\nerror in passwd, a header: expected a \";\"\n");
}

TEST(DeviceDiagnostics, GivesOneAdviceOnHostHeaders) {
  const std::string host =
      "error: A function explicitly marked as a __host__ function is not allowed in JIT mode\n    f()\n    ^\n\n";
  EXPECT_EQ(device_diagnostics("/usr/include/thrust/detail/launch.h(61): " + host +
                                   "/usr/include/cub/device/device_for.cuh(9): " + host + "kernel.cu(2): error: no\n",
                               {"kernel.cu"}),
            "kernel.cu:2: error: no\nerror: include the block or warp header, like cub/block/block_reduce.cuh; "
            "cub/cub.cuh, cub/device/... and thrust/... need a host compiler\n");
  EXPECT_NE(device_diagnostics("kernel.cu(2): " + host, {"kernel.cu"}).find("kernel.cu:2:"), std::string::npos);
}

TEST(LibraryHeaders, MathHasItsConstants) {
  for (const auto& [name, text] : library_headers()) {
    if (name != "math.h" && name != "cmath") continue;
    for (const char* constant : {"M_E", "M_LOG2E", "M_LOG10E", "M_LN2", "M_LN10", "M_PI", "M_PI_2", "M_PI_4", "M_1_PI",
                                 "M_2_PI", "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2"})
      EXPECT_NE(text.find(std::string("#define ") + constant + " "), std::string::npos) << name << ": " << constant;
  }
}

TEST(DeviceDiagnostics, ExplainsTheAssembler) {
  EXPECT_EQ(device_diagnostics("ptxas application ptx input, line 27; error   : Unknown modifier '.bar'\n"
                               "ptxas fatal   : Unresolved extern function 'foo'\n"
                               "ptxas fatal   : Ptx assembly aborted due to errors\n",
                               {"kernel.cu"}),
            "error in inline PTX or code generation: Unknown modifier '.bar'\n"
            "error: function 'foo' is declared and defined nowhere\n");
}

TEST(DeviceDiagnostics, HostileTextIsCutAndMadePrintable) {
  std::string log;
  for (int i = 0; i < 5000; ++i)
    log += "kernel.cu(" + std::to_string(i) + "): error: \x1b[2J\x07 " + std::string(900, 'x') + "\n";
  const std::string text = device_diagnostics(log, {"kernel.cu"});
  EXPECT_LT(text.size(), 7000U);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(device_diagnostics("kernel.cu(99999999999): error: x\n(3): error: y\n): \n", {"kernel.cu"}), "");
}

TEST(DeviceRemarks, KeepsWhatCostsTime) {
  EXPECT_EQ(device_remarks("ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable.\n"
                           "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable.\n"
                           "  ptxas info Potential Performance Loss: written by the kernel's author\n"),
            (std::vector<std::string>{"possible loss of performance: 'setmaxnreg' ignored; unable."}));
}

constexpr const char* kVerbose =
    "ptxas info    : 24 bytes gmem, 12 bytes cmem[4]\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     800 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 800 bytes cumulative stack size, 1168 bytes smem\n"
    "ptxas info    : Function properties for _Z1ffi\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "  ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
    "  ptxas info    : Used 3 registers\n";

TEST(ParseResources, ReadsWhatPtxasReports) {
  const auto resources = parse_resources(kVerbose);
  ASSERT_EQ(resources.size(), 2U);
  EXPECT_EQ(resources[0].kernel, "k");
  EXPECT_EQ(resources[0].registers, 255);
  EXPECT_EQ(resources[0].spill_bytes, 28);
  EXPECT_EQ(resources[0].stack_bytes, 800);
  EXPECT_EQ(resources[0].static_shared_bytes, 1168);
  EXPECT_TRUE(parse_resources("ptxas info : Used 99999999999999 registers\nptxas info : registers\n").empty());
}

model::KernelLaunch launch_of(std::uint32_t threads, std::uint32_t shared = 0) {
  model::KernelLaunch out;
  out.kernel = "k";
  out.block = {threads, 1, 1};
  out.shared_bytes = shared;
  return out;
}

KernelResources taking(int registers, int static_shared = 0) {
  KernelResources out;
  out.kernel = "k";
  out.registers = registers;
  out.static_shared_bytes = static_shared;
  return out;
}

TEST(RefusedLaunch, TooManyRegistersForTheBlock) {
  const auto reason = refused_launch(launch_of(1024), taking(96), {}, scale_task().definition, {});
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("98304 registers (96 a thread)"), std::string::npos) << *reason;
  EXPECT_FALSE(refused_launch(launch_of(512), taking(96), {}, scale_task().definition, {}));
}

TEST(RefusedLaunch, SharedMemoryAndClusters) {
  const auto memory = refused_launch(launch_of(32, 230000), taking(32, 4096), {}, scale_task().definition, {});
  ASSERT_TRUE(memory);
  EXPECT_NE(memory->find("234096 bytes of shared memory"), std::string::npos) << *memory;
  CubinKernel clustered;
  clustered.cluster = {2, 1, 1};
  const auto cluster = refused_launch(launch_of(32), taking(32), clustered, scale_task().definition, {});
  ASSERT_TRUE(cluster);
  EXPECT_NE(cluster->find("(2, 1, 1)"), std::string::npos) << *cluster;
}

TEST(ReadCubin, DamagedBytesAreAnError) {
  for (const std::string& bytes : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(64, '\xff'), std::string(4096, 'x')})
    EXPECT_FALSE(read_cubin(bytes));
  std::string header(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  header.resize(64, '\0');
  header[40] = '\x40';  // sections follow the header
  header[60] = '\x10';  // sixteen of them, which are not there
  EXPECT_FALSE(read_cubin(header));
}

TEST(RefusedCubin, FunctionsThatAreNotThere) {
  Cubin cubin;
  cubin.variables.push_back({"calls", 4});
  EXPECT_EQ(refused_cubin(cubin), "");
  cubin.missing = {"malloc", "vprintf"};
  EXPECT_NE(refused_cubin(cubin).find("declare //@ scratch memory"), std::string::npos) << refused_cubin(cubin);
}

TEST(DeviceHeader, HasTypesAxesAndNames) {
  const std::string header = device_header(scale_task().definition);
  EXPECT_NE(header.find("enum { N = 512 };"), std::string::npos) << header;
  EXPECT_NE(header.find("const float* x  [M, N]"), std::string::npos) << header;
  EXPECT_EQ(header.find("cuda_fp16.h"), std::string::npos);
  EXPECT_NE(device_reference_header(scale_task().definition).find("real* y  [M, N]"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::targets::cuda
