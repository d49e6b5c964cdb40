// Generators, and what they generate as operations of their streams.
#include <cmath>
#include <new>

#include "cuda/driver/curand/numbers.h"
#include "cuda/driver/stand_in.h"

namespace palladion::cuda::curand {
namespace {

using Status = int;  // curandStatus_t
constexpr Status success = 0, not_initialized = 101, allocation_failed = 102, type_error = 103,
                 out_of_range = 104, length_not_multiple = 105, launch_failure = 201;
constexpr int version[] = {10, 4, 0};

struct Generator {
  bool is_of_host = false;  // its numbers are for the host's memory, at once
  void* stream = nullptr;
  Place place;
  uint64_t offset = 0;
};

Status create(Generator** out, int type, bool is_of_host) {
  constexpr int first_pseudo = 100, first_quasi = 200;
  if (out == nullptr) return not_initialized;
  if (type < first_pseudo || type >= first_quasi) {
    palladion_exec_unsupported("quasirandom generators of cuRAND");
    return type_error;
  }
  *out = new (std::nothrow) Generator{is_of_host};
  return *out != nullptr ? success : allocation_failed;
}

// `taken`: words of the generator.
template <class T, class Make>
Status generate(const char* name, Generator* g, T* out, size_t n, size_t taken, Make make) {
  if (g == nullptr) return not_initialized;
  const Place from = g->place;
  g->place.position += taken;
  if (n == 0) return success;
  if (g->is_of_host) return make(from, out), success;
  const std::vector<Piece> pieces = {{out, n * sizeof(T), 1, 0, false, true}};
  const auto compute = [=](void* const* views) { make(from, static_cast<T*>(views[0])); };
  return compute_on_host(name, g->stream, pieces, compute) == 0 ? success : launch_failure;
}

template <class T>
Status uniform_of(const char* name, Generator* g, T* out, size_t n) {
  return generate(name, g, out, n, n * sizeof(T) / sizeof(uint32_t),
                  [n](Place from, T* to) { uniform(from, to, n); });
}

template <class T>
Status normal_of(const char* name, Generator* g, T* out, size_t n, T mean, T deviation, bool exponential) {
  if (n % 2 != 0) return length_not_multiple;
  return generate(name, g, out, n, n * sizeof(T) / sizeof(uint32_t), [=](Place from, T* to) {
    normal(from, to, n, mean, deviation);
    for (size_t i = 0; exponential && i < n; ++i) to[i] = std::exp(to[i]);
  });
}

template <class F>
Status with(Generator* g, F f) {
  return g == nullptr ? not_initialized : (f(*g), success);
}

}  // namespace
}  // namespace palladion::cuda::curand

using namespace palladion::cuda::curand;

PLD_STAND_IN Status curandCreateGenerator(Generator** out, int type) { return create(out, type, false); }
PLD_STAND_IN Status curandCreateGeneratorHost(Generator** out, int type) { return create(out, type, true); }
PLD_STAND_IN Status curandDestroyGenerator(Generator* g) {
  return with(g, [](Generator& all) { delete &all; });
}
PLD_STAND_IN Status curandSetStream(Generator* g, void* stream) {
  return with(g, [&](Generator& all) { all.stream = stream; });
}
PLD_STAND_IN Status curandSetPseudoRandomGeneratorSeed(Generator* g, unsigned long long seed) {
  return with(g, [&](Generator& all) { all.place = {seed, all.offset}; });
}
PLD_STAND_IN Status curandSetGeneratorOffset(Generator* g, unsigned long long offset) {
  return with(g, [&](Generator& all) { all.place.position = all.offset = offset; });
}
PLD_STAND_IN Status curandSetGeneratorOrdering(Generator* g, int) {
  return with(g, [](const Generator&) {});
}
PLD_STAND_IN Status curandGenerateSeeds(Generator* g) {
  return with(g, [](const Generator&) {});
}
PLD_STAND_IN Status curandGetVersion(int* out) {
  return out == nullptr ? out_of_range : (*out = version[0] * 1000 + version[1] * 100 + version[2], success);
}
PLD_STAND_IN Status curandGetProperty(int type, int* out) {
  if (out == nullptr || type < 0 || type > 2) return out_of_range;
  return *out = version[type], success;
}

PLD_STAND_IN Status curandGenerate(Generator* g, uint32_t* out, size_t n) {
  return generate("curandGenerate", g, out, n, n, [n](Place from, uint32_t* to) { words(from, to, n); });
}
PLD_STAND_IN Status curandGenerateLongLong(Generator* g, unsigned long long*, size_t) {
  return g == nullptr ? not_initialized : type_error;  // of 64-bit quasirandom generators alone
}
PLD_STAND_IN Status curandGenerateUniform(Generator* g, float* out, size_t n) {
  return uniform_of("curandGenerateUniform", g, out, n);
}
PLD_STAND_IN Status curandGenerateUniformDouble(Generator* g, double* out, size_t n) {
  return uniform_of("curandGenerateUniformDouble", g, out, n);
}
PLD_STAND_IN Status curandGenerateNormal(Generator* g, float* out, size_t n, float mean, float deviation) {
  return normal_of("curandGenerateNormal", g, out, n, mean, deviation, false);
}
PLD_STAND_IN Status curandGenerateNormalDouble(Generator* g, double* out, size_t n, double mean,
                                               double deviation) {
  return normal_of("curandGenerateNormalDouble", g, out, n, mean, deviation, false);
}
PLD_STAND_IN Status curandGenerateLogNormal(Generator* g, float* out, size_t n, float mean, float deviation) {
  return normal_of("curandGenerateLogNormal", g, out, n, mean, deviation, true);
}
PLD_STAND_IN Status curandGenerateLogNormalDouble(Generator* g, double* out, size_t n, double mean,
                                                  double deviation) {
  return normal_of("curandGenerateLogNormalDouble", g, out, n, mean, deviation, true);
}
PLD_STAND_IN Status curandGeneratePoisson(Generator* g, uint32_t* out, size_t n, double lambda) {
  if (!(lambda > 0)) return out_of_range;
  return generate("curandGeneratePoisson", g, out, n, n,
                  [=](Place from, uint32_t* to) { poisson(from, to, n, lambda); });
}
