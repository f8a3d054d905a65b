// SPDX-License-Identifier: Apache-2.0
// What every branch calls where all is compiled for the fuzz driver (ACCELOPT_FUZZ_COVERAGE): in programs without that
// driver it does nothing.
extern "C" void __sanitizer_cov_trace_pc() {}  // NOLINT(bugprone-reserved-identifier): the compiler's name
