// SPDX-License-Identifier: Apache-2.0
// The constants of a generation, in one table, each with its source.
#pragma once

#include <cstdint>
#include <string_view>

namespace accelopt::targets::trainium {

/// Changes whenever a modelled time may: it is part of every result.
inline constexpr std::string_view kModelVersion = "nki-model 6";

inline constexpr std::int64_t kElementBytes = 4;  ///< float32

/// What a kernel's tiles and own tensors in HBM take while it is executed, at once [assumed: of a host's memory; a core
/// has 16 GiB of HBM, doc: architecture guide].
inline constexpr std::int64_t kMostResidentBytes = std::int64_t{4} << 30;

/// Where a constant comes from: doc: the vendor's public documents of SDK 2.25; fitted: recorded profiles of the public
/// benchmark; assumed: nobody measured it.
struct Generation {
  std::string_view name;
  bool calibrated = false;  ///< whether recorded times of this generation were at hand

  // Limits [doc: architecture guide, direct allocation guide].
  std::int64_t partitions = 128;
  std::int64_t sbuf_bytes = 176 << 10;  ///< a partition's, without the 16 KiB that the compiler keeps
  std::int64_t psum_bytes = 16 << 10;
  std::int64_t psum_bank_bytes = 2 << 10;
  std::int64_t stationary_columns = 128;
  std::int64_t moving_columns = 512;
  std::int64_t sbuf_free_elements = 64 << 10;  ///< an instruction's, a partition
  std::int64_t psum_free_elements = 4 << 10;

  // Engines, GHz.
  double tensor_ghz = 2.4;    ///< fitted: 6/7 of the nominal 2.8
  double vector_ghz = 1.12;   ///< doc
  double scalar_ghz = 1.4;    ///< doc
  double float32_passes = 4;  ///< doc: cycles per column of a float32 multiplication
  double least_cycles = 64;   ///< doc: shortest instruction
  double vector_start = 100;  ///< doc, and fitted: cycles beside the formula
  double scalar_start = 60;   ///< doc, and fitted
  double reciprocal = 1.3;    ///< fitted: cycles per element, where the documents say 8

  // DMA.
  int dma_engines = 16;            ///< doc
  double descriptor_ns = 98;       ///< fitted
  double dma_bytes_per_ns = 27.2;  ///< doc: an engine's, beside the descriptors
  double dma_latency_ns = 2000;    ///< fitted: until others see the data

  double start_ns = 30000;        ///< assumed: of a kernel
  double hbm_bytes_per_ns = 410;  ///< doc: a core's
  double vector_gflops = 286.7;   ///< doc: 2 x 128 lanes x 1.12 GHz
  double matrix_gflops = 23750;   ///< doc: float32
};

inline constexpr Generation kTrn1{.name = "trn1", .calibrated = true};
/// Clocks and bandwidth [doc: architecture guide of trn2]; everything fitted is trn1's.
inline constexpr Generation kTrn2{.name = "trn2",
                                  .calibrated = false,
                                  .sbuf_bytes = 208 << 10,
                                  .tensor_ghz = 2.4,
                                  .vector_ghz = 0.96,
                                  .scalar_ghz = 1.2,
                                  .dma_bytes_per_ns = 36.8,
                                  .hbm_bytes_per_ns = 360,
                                  .vector_gflops = 245.8,
                                  .matrix_gflops = 19750};

}  // namespace accelopt::targets::trainium
