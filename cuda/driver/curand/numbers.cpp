#include "cuda/driver/curand/numbers.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace palladion::cuda::curand {
namespace {

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

// Words one after the other.
class Source {
 public:
  using result_type = uint32_t;
  explicit Source(Place from, uint32_t branch = 0) : from_(from), branch_(branch) {}
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return std::numeric_limits<uint32_t>::max(); }
  uint32_t operator()() {
    const uint64_t block = from_.position / 4;
    if (!is_made_ || block != made_) {
      four_ = philox({low(block), high(block), branch_, 0}, {low(from_.seed), high(from_.seed)});
      made_ = block, is_made_ = true;
    }
    return four_[from_.position++ % 4];
  }
  void next(float& out) { out = static_cast<float>((*this)()) * 0x1p-32F + 0x1p-33F; }
  void next(double& out) {
    const uint64_t first = (*this)(), second = (*this)();
    out = static_cast<double>((first << 21 ^ second) & ((uint64_t{1} << 53) - 1)) * 0x1p-53 + 0x1p-54;
  }

 private:
  Place from_;
  uint32_t branch_;
  Counter four_{};
  uint64_t made_ = 0;
  bool is_made_ = false;
};

template <class T>
void all_uniform(Place from, T* out, size_t n) {
  Source source(from);
  for (size_t i = 0; i < n; ++i) source.next(out[i]);
}

template <class T>
void all_normal(Place from, T* out, size_t n, T mean, T deviation) {
  Source source(from);
  for (size_t i = 0; i + 1 < n; i += 2) {
    T u, v;
    source.next(u), source.next(v);
    const T radius = std::sqrt(T(-2) * std::log(u)), angle = 2 * std::numbers::pi_v<T> * v;
    out[i] = mean + deviation * radius * std::sin(angle);
    out[i + 1] = mean + deviation * radius * std::cos(angle);
  }
}

}  // namespace

Counter philox(Counter c, std::array<uint32_t, 2> key) {
  constexpr uint64_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t steps[] = {0x9E3779B9, 0xBB67AE85};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = multipliers[0] * c[0], q = multipliers[1] * c[2];
    c = {high(q) ^ c[1] ^ key[0], low(q), high(p) ^ c[3] ^ key[1], low(p)};
    key = {key[0] + steps[0], key[1] + steps[1]};
  }
  return c;
}

void words(Place from, uint32_t* out, size_t n) {
  Source source(from);
  for (size_t i = 0; i < n; ++i) out[i] = source();
}
void uniform(Place from, float* out, size_t n) { all_uniform(from, out, n); }
void uniform(Place from, double* out, size_t n) { all_uniform(from, out, n); }
void normal(Place from, float* out, size_t n, float mean, float deviation) {
  all_normal(from, out, n, mean, deviation);
}
void normal(Place from, double* out, size_t n, double mean, double deviation) {
  all_normal(from, out, n, mean, deviation);
}
void poisson(Place from, uint32_t* out, size_t n, double lambda) {
  for (size_t i = 0; i < n; ++i) {
    constexpr uint32_t branch = 1;  // words that no other distribution takes, as many as an element needs
    Source source({from.seed, (from.position + i) << 16}, branch);
    out[i] = std::poisson_distribution<uint32_t>(lambda)(source);
  }
}

}  // namespace palladion::cuda::curand
