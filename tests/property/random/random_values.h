#pragma once
// Deterministic random numbers and operand values that stand where arithmetic has its edges.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace palladion::random_program {

// splitmix64: the same sequence everywhere, which <random>'s distributions do not promise.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(static_cast<uint32_t>(from.size()))];
  }
  template <class T>
  void shuffle(std::vector<T>& v) {
    for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[below(static_cast<uint32_t>(i))]);
  }

 private:
  uint64_t state_;
};

// What a register's bits are meant to be.
enum class Flavor : uint8_t { integer, f16, bf16, f32, f64, tf32, e4m3, e5m2 };

// PTX leaves open which of two f64 NaNs survives an instruction: all f64 registers hold this one only.
inline constexpr uint64_t only_nan64 = 0xfff8000000000000;

// A quarter edges, half ordinary magnitudes, a quarter any bits. 16- and 8-bit values fill the word.
uint64_t random_value(Rng& rng, Flavor flavor);
// For products: NaNs and infinities are rare (none in f64), exponents mostly near one another.
uint64_t random_factor(Rng& rng, Flavor flavor);

}  // namespace palladion::random_program
