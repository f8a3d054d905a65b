// SPDX-License-Identifier: Apache-2.0
// Five functions of five kinds: indices, bytes, in place, half precision, spans.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

// The nearest point of each query, by squared distance.
void nearest(const float* queries, const float* points, int* places, int rows, int count) {
  constexpr int kSize = 48;
  for (int q = 0; q < rows; ++q) {
    float best = 3.0e38f;
    int place = 0;
    for (int p = 0; p < count; ++p) {
      float distance = 0.0f;
      for (int d = 0; d < kSize; ++d) {
        const float difference = queries[q * kSize + d] - points[p * kSize + d];
        distance += difference * difference;
      }
      if (distance < best) {
        best = distance;
        place = p;
      }
    }
    places[q] = place;
  }
}

// base64 without padding: three bytes of input to four letters.
void encode(const std::uint8_t* bytes, std::uint8_t* letters, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t group = static_cast<std::uint32_t>(bytes[g * 3]) << 16 |
                                  static_cast<std::uint32_t>(bytes[g * 3 + 1]) << 8 | bytes[g * 3 + 2];
      const std::uint32_t six = group >> (18 - 6 * i) & 63u;
      letters[g * 4 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(six < 26    ? 'A' + six
                                                                               : six < 52  ? 'a' + (six - 26)
                                                                               : six < 62  ? '0' + (six - 52)
                                                                               : six == 62 ? '+'
                                                                                           : '/');
    }
  }
}

// Every row divided by the sum of its squares, in place.
void scale(float* x, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    float sum = 1.0e-6f;
    for (int c = 0; c < cols; ++c) {
      sum += x[r * cols + c] * x[r * cols + c];
    }
    for (int c = 0; c < cols; ++c) {
      x[r * cols + c] = x[r * cols + c] / sum;
    }
  }
}

// Half precision numbers as shares of their rows' totals, in two units.
void half_shares(const _Float16* x, const float* totals, float* out, int rows, float unit) {
  constexpr int kCols = 256;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      out[r * kCols + c] = static_cast<float>(x[r * kCols + c]) / totals[r] / unit / unit;
    }
  }
}

// Sums of columns; the number of rows follows from the sizes.
void column_sums(std::span<const float> x, std::span<float> sums) {
  const std::size_t rows = x.size() / sums.size();
  for (std::size_t c = 0; c < sums.size(); ++c) {
    float sum = 0.0f;
    for (std::size_t r = 0; r < rows; ++r) {
      sum += x[r * sums.size() + c];
    }
    sums[c] = sum;
  }
}

namespace {

float next(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
}

template <class T>
std::vector<T> filled(std::size_t count, unsigned state) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(next(state));
  return values;
}

}  // namespace

int main() {
  const auto queries = filled<float>(40 * 48, 1), points = filled<float>(90 * 48, 2);
  std::vector<int> places(40);
  nearest(queries.data(), points.data(), places.data(), 40, 90);
  for (const int place : places) std::printf("nearest %d\n", place);

  std::vector<std::uint8_t> bytes(3 * 50), letters(4 * 50);
  unsigned state = 3;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(next(state) * 255.0f + 127.0f);
  encode(bytes.data(), letters.data(), 50);
  std::printf("encode %.*s\n", 200, reinterpret_cast<const char*>(letters.data()));

  auto x = filled<float>(7 * 70, 4);
  scale(x.data(), 7, 70);
  for (const float value : x) std::printf("scale %.4f\n", static_cast<double>(value));

  const auto halves = filled<_Float16>(256 * 9, 5);
  const auto totals = filled<float>(9, 6);
  std::vector<float> shares(256 * 9);
  half_shares(halves.data(), totals.data(), shares.data(), 9, 8.0f);
  for (const float share : shares) std::printf("half_shares %.3f\n", static_cast<double>(share));

  const auto table = filled<float>(31 * 21, 7);
  std::vector<float> sums(21);
  column_sums(table, sums);
  for (const float value : sums) std::printf("column_sums %.3f\n", static_cast<double>(value));
}
