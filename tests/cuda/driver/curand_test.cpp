// cuRAND's library: numbers of a known generator, the same ones for the same seed.
#include <cmath>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

constexpr Status wrong_type = 103, odd_length = 105;
constexpr int xorwow = 101, philox = 161, sobol = 201;

class Curand : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcurand.so.10").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  void* generator(int type, unsigned long long seed) {
    void* g = nullptr;
    EXPECT_EQ(call("curandCreateGenerator", &g, type), success);
    EXPECT_EQ(call("curandSetPseudoRandomGeneratorSeed", g, seed), success);
    return owned(g, "curandDestroyGenerator");
  }
  template <class T, class... More>
  std::vector<T> made(const char* name, void* g, size_t n, More... more) {
    const OfDevice<T> out(*this, std::vector<T>(n));
    EXPECT_EQ(call(name, g, out.pointer(), n, more...), success);
    return out.values();
  }
  template <class T>
  static void expect_moments(const std::vector<T>& values, double mean, double variance, double bound) {
    double sum = 0, squares = 0;
    for (const T v : values) sum += double(v), squares += double(v) * double(v);
    const double m = sum / double(values.size());
    EXPECT_NEAR(m, mean, bound);
    EXPECT_NEAR(squares / double(values.size()) - m * m, variance, 4 * bound);
  }
};

// The published answers of Philox4x32-10 for the counter and the key 0.
TEST_F(Curand, ItsWordsArePhilox) {
  EXPECT_EQ(made<uint32_t>("curandGenerate", generator(philox, 0), 4),
            (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST_F(Curand, ASeedGivesItsNumbersInOrder) {
  void *whole = generator(xorwow, 7), *parts = generator(xorwow, 7), *other = generator(xorwow, 8);
  const auto all = made<uint32_t>("curandGenerate", whole, 10);
  auto joined = made<uint32_t>("curandGenerate", parts, 3);
  for (const uint32_t word : made<uint32_t>("curandGenerate", parts, 7)) joined.push_back(word);
  EXPECT_EQ(joined, all);
  EXPECT_NE(made<uint32_t>("curandGenerate", other, 10), all);
  EXPECT_EQ(call("curandSetGeneratorOffset", other, 0ULL), success);
  EXPECT_EQ(call("curandSetPseudoRandomGeneratorSeed", other, 7ULL), success);
  EXPECT_EQ(call("curandSetGeneratorOffset", other, 4ULL), success);
  EXPECT_EQ(made<uint32_t>("curandGenerate", other, 6), (std::vector<uint32_t>{all.begin() + 4, all.end()}));
}

TEST_F(Curand, DistributionsHaveTheirMoments) {
  void* const g = generator(xorwow, 1);
  constexpr size_t n = 40000;
  const auto single = made<float>("curandGenerateUniform", g, n);
  for (const float v : single) EXPECT_TRUE(v > 0 && v <= 1) << v;
  expect_moments(single, 0.5, 1.0 / 12, 0.01);
  expect_moments(made<double>("curandGenerateUniformDouble", g, n), 0.5, 1.0 / 12, 0.01);
  expect_moments(made<float>("curandGenerateNormal", g, n, 3.0F, 2.0F), 3, 4, 0.05);
  expect_moments(made<double>("curandGenerateNormalDouble", g, n, -1.0, 0.5), -1, 0.25, 0.02);
  const double mean = std::exp(0.5 * 0.25), variance = (std::exp(0.25) - 1) * std::exp(0.25);
  expect_moments(made<double>("curandGenerateLogNormalDouble", g, n, 0.0, 0.5), mean, variance, 0.03);
  for (const double lambda : {0.5, 4.0, 200.0})
    expect_moments(made<uint32_t>("curandGeneratePoisson", g, n, lambda), lambda, lambda,
                   0.02 * (1 + lambda));
}

TEST_F(Curand, WhatIsNotThereIsRefused) {
  void* g = generator(philox, 1);
  const OfDevice<float> out(*this, {0, 0, 0});
  EXPECT_EQ(call("curandGenerateNormal", g, out.pointer(), size_t{3}, 0.0F, 1.0F), odd_length);
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("curandCreateGenerator", &g, sobol), wrong_type);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "palladion exec: unsupported: quasirandom generators of cuRAND\n");
}

TEST_F(Curand, AGeneratorOfTheHostFillsItsMemory) {
  void* g = nullptr;
  ASSERT_EQ(call("curandCreateGeneratorHost", &g, philox), success);
  std::vector<uint32_t> words(4);
  EXPECT_EQ(call("curandGenerate", g, words.data(), words.size()), success);
  EXPECT_EQ(words[0], 0x6627e8d5U);
  EXPECT_EQ(call("curandDestroyGenerator", g), success);
}

}  // namespace
}  // namespace palladion::cuda::driver
