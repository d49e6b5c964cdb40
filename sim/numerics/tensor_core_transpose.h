// Transposition of raw element rows: rows[r][c] -> out[c][r], for 1, 2 and 4-byte elements, eight rows of 32
// bytes at a time. Private to the decoder.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "sim/numerics/tensor_core.h"

namespace palladion::sim::numerics::tc {

struct Eight {
  __m256i row[8];
};

inline Eight load_eight(const Rows& rows, int first, std::ptrdiff_t offset) {
  Eight x;
  for (int i = 0; i < 8; ++i)
    x.row[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[first + i] + offset));
  return x;
}

// Each 128-bit half: 8 rows of 8 words become 8 columns of 8. Result j: column j in the low half, j + 8 in
// the high one.
inline Eight transpose_words(const Eight& x) {
  __m256i pair[8];
  __m256i quad[8];
  for (int i = 0; i < 4; ++i) {
    pair[i * 2] = _mm256_unpacklo_epi16(x.row[i * 2], x.row[i * 2 + 1]);
    pair[i * 2 + 1] = _mm256_unpackhi_epi16(x.row[i * 2], x.row[i * 2 + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    quad[i] = _mm256_unpacklo_epi32(pair[i], pair[i + 2]);
    quad[i + 1] = _mm256_unpackhi_epi32(pair[i], pair[i + 2]);
    quad[i + 2] = _mm256_unpacklo_epi32(pair[i + 1], pair[i + 3]);
    quad[i + 3] = _mm256_unpackhi_epi32(pair[i + 1], pair[i + 3]);
  }
  Eight out;
  for (int i = 0; i < 4; ++i) {
    out.row[i * 2] = _mm256_unpacklo_epi64(quad[i], quad[i + 4]);
    out.row[i * 2 + 1] = _mm256_unpackhi_epi64(quad[i], quad[i + 4]);
  }
  return out;
}

inline void store_low(std::uint8_t* p, __m256i x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(x));
}
inline void store_high(std::uint8_t* p, __m256i x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_extracti128_si256(x, 1));
}

template <int element_bytes>
inline void transpose_eight(const Eight& x, std::uint8_t* out, std::ptrdiff_t stride);

template <>
inline void transpose_eight<2>(const Eight& x, std::uint8_t* out, std::ptrdiff_t stride) {
  const Eight t = transpose_words(x);
  for (int j = 0; j < 8; ++j) {
    store_low(out + j * stride, t.row[j]);
    store_high(out + (j + 8) * stride, t.row[j]);
  }
}

template <>
inline void transpose_eight<1>(const Eight& x, std::uint8_t* out, std::ptrdiff_t stride) {
  const Eight t = transpose_words(x);  // of pairs of bytes
  const __m256i low_byte = _mm256_set1_epi16(0xFF);
  for (int j = 0; j < 8; ++j) {
    const __m256i both =
        _mm256_packus_epi16(_mm256_and_si256(t.row[j], low_byte), _mm256_srli_epi16(t.row[j], 8));
    const __m128i low = _mm256_castsi256_si128(both);
    const __m128i high = _mm256_extracti128_si256(both, 1);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + (2 * j) * stride), low);
    _mm_storeh_pd(reinterpret_cast<double*>(out + (2 * j + 1) * stride), _mm_castsi128_pd(low));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + (2 * j + 16) * stride), high);
    _mm_storeh_pd(reinterpret_cast<double*>(out + (2 * j + 17) * stride), _mm_castsi128_pd(high));
  }
}

template <>
inline void transpose_eight<4>(const Eight& x, std::uint8_t* out, std::ptrdiff_t stride) {
  for (int i = 0; i < 8; i += 4) {
    const __m256i a = _mm256_unpacklo_epi32(x.row[i], x.row[i + 1]);
    const __m256i b = _mm256_unpackhi_epi32(x.row[i], x.row[i + 1]);
    const __m256i c = _mm256_unpacklo_epi32(x.row[i + 2], x.row[i + 3]);
    const __m256i d = _mm256_unpackhi_epi32(x.row[i + 2], x.row[i + 3]);
    const __m256i column[4] = {_mm256_unpacklo_epi64(a, c), _mm256_unpackhi_epi64(a, c),
                               _mm256_unpacklo_epi64(b, d), _mm256_unpackhi_epi64(b, d)};
    for (int j = 0; j < 4; ++j) {
      store_low(out + j * stride + i * 4, column[j]);
      store_high(out + (j + 4) * stride + i * 4, column[j]);
    }
  }
}

// `count` rows (a multiple of 8) of `bytes` (a multiple of 32).
template <int element_bytes>
inline void transpose(const Rows& rows, int count, int bytes, std::uint8_t* out, std::ptrdiff_t stride) {
  for (int offset = 0; offset < bytes; offset += 32) {
    std::uint8_t* to = out + offset / element_bytes * stride;
    for (int r = 0; r < count; r += 8) {
      transpose_eight<element_bytes>(load_eight(rows, r, offset), to + r * element_bytes, stride);
    }
  }
}

}  // namespace palladion::sim::numerics::tc
