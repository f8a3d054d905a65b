// SPDX-License-Identifier: Apache-2.0
// The trusted kernels as the fake driver runs them.
#include "fakes/cuda/shim.hpp"

#include "devices/cuda/kernels/elements.cuh"

#include "devices/cuda/kernels/input_kernels.cu"

#include "devices/cuda/kernels/check_kernels.cu"

ACCELOPT_FAKE_KERNEL(accelopt_draw)
ACCELOPT_FAKE_KERNEL(accelopt_to_real)
ACCELOPT_FAKE_KERNEL(accelopt_fingerprint)
ACCELOPT_FAKE_KERNEL(accelopt_poison)
ACCELOPT_FAKE_KERNEL(accelopt_poison_from)
ACCELOPT_FAKE_KERNEL(accelopt_canary_write)
ACCELOPT_FAKE_KERNEL(accelopt_canary_check)
ACCELOPT_FAKE_KERNEL(accelopt_zero)
ACCELOPT_FAKE_KERNEL(accelopt_flush)
ACCELOPT_FAKE_KERNEL(accelopt_discard)
ACCELOPT_FAKE_KERNEL(accelopt_touch)
ACCELOPT_FAKE_KERNEL(accelopt_scrub)
ACCELOPT_FAKE_KERNEL(accelopt_scrub_local_1k)
ACCELOPT_FAKE_KERNEL(accelopt_scrub_local_4k)
ACCELOPT_FAKE_KERNEL(accelopt_scrub_local_16k)
ACCELOPT_FAKE_KERNEL(accelopt_block)
ACCELOPT_FAKE_KERNEL(accelopt_clock)
ACCELOPT_FAKE_KERNEL(accelopt_row_sizes)
ACCELOPT_FAKE_KERNEL(accelopt_norm)
ACCELOPT_FAKE_KERNEL(accelopt_run_error)
ACCELOPT_FAKE_KERNEL(accelopt_sum)
ACCELOPT_FAKE_KERNEL(accelopt_compare)
ACCELOPT_FAKE_KERNEL(accelopt_worst)
ACCELOPT_FAKE_KERNEL(accelopt_examine)
ACCELOPT_FAKE_KERNEL(accelopt_exact)
ACCELOPT_FAKE_KERNEL(accelopt_examine_exact)
ACCELOPT_FAKE_KERNEL(accelopt_agree)
ACCELOPT_FAKE_KERNEL(accelopt_examine_kept)
ACCELOPT_FAKE_KERNEL(accelopt_bands)
ACCELOPT_FAKE_KERNEL(accelopt_band_example)
