#pragma once
// Numbers of a generator at a position: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers:
// As Easy as 1, 2, 3), whatever algorithm was asked for.
#include <array>
#include <cstddef>
#include <cstdint>

namespace palladion::cuda::curand {

using Counter = std::array<uint32_t, 4>;
Counter philox(Counter counter, std::array<uint32_t, 2> key);

// Where a generator stands: words that it has given.
struct Place {
  uint64_t seed = 0, position = 0;
};
void words(Place from, uint32_t* out, size_t n);
// In (0, 1], as cuRAND's; a double takes two words.
void uniform(Place from, float* out, size_t n);
void uniform(Place from, double* out, size_t n);
// By Box and Muller: n is even.
void normal(Place from, float* out, size_t n, float mean, float deviation);
void normal(Place from, double* out, size_t n, double mean, double deviation);
void poisson(Place from, uint32_t* out, size_t n, double lambda);  // a word each

}  // namespace palladion::cuda::curand
