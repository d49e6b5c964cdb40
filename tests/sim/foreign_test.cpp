// CUDA C++ kernels that nvcc compiled, run in the machine and judged by the host: the PTX that is committed,
// and where there is an nvcc the PTX it makes today.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include "isa/formats/tensor_map.h"
#include "isa/num/convert.h"
#include "tests/sim/ptx_runner.h"
#include "tests/support/toolkit.h"

namespace palladion::sim::testing {
namespace {

const std::string root = PLD_SOURCE_DIR "/tests/isa/";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

uint32_t next(uint32_t& state) { return (state = state * 1664525 + 1013904223) >> 8; }

// Each kernel of a file of its own; once from ptx/, once compiled.
class Foreign : public ::testing::TestWithParam<bool> {
 protected:
  std::string ptx(const std::string& name) {
    if (!GetParam()) return text_of(root + "ptx/" + name + ".ptx");
    const std::string out = (folder_.path() / (name + ".ptx")).string();
    const toolkit::Outcome o =
        toolkit::run_command(toolkit::find_tool("nvcc").value().string() +
                             " -arch=sm_90a -std=c++17 -ptx -o " + out + " " + root + "cuda/" + name + ".cu");
    EXPECT_TRUE(o.ok()) << o.output;
    return text_of(out);
  }
  toolkit::TemporaryFolder folder_;
};

#define PLD_NEEDS_COMPILER() \
  if (GetParam()) PLD_NEEDS_TOOL("nvcc")

TEST_P(Foreign, SumsByATreeInSharedMemory) {
  PLD_NEEDS_COMPILER();
  std::vector<float> in(5000), out{0};
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17) - 8;  // sums are exact
  PtxRunner k(ptx("reduction"));
  k.launch.entry = "sum";
  k.array(in).array(out).scalar<int>(5000).shape({6, 1, 1}, {256, 1, 1});
  k.run_clean();
  EXPECT_EQ(out[0], std::accumulate(in.begin(), in.end(), 0.0F));
}

TEST_P(Foreign, SumsIntegersInSharedMemoryOfTheLaunch) {
  PLD_NEEDS_COMPILER();
  std::vector<int> in(3001);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 2654435761U);
  std::vector<int64_t> out{0};
  for (const RunOptions& o : every_schedule()) {
    PtxRunner k(ptx("reduction"));
    k.launch.entry = "sum_integers";
    k.launch.dynamic_shared = 128 * 8;
    k.array(in).array(out).scalar<int>(3001).shape({1, 1, 1}, {128, 1, 1});
    k.run_clean(o);
    EXPECT_EQ(out[0], std::accumulate(in.begin(), in.end(), int64_t{0}));
  }
}

void expect_softmax(const std::vector<float>& in, const std::vector<float>& out, size_t columns) {
  for (size_t row = 0; row < in.size() / columns; ++row) {
    const float* x = &in[row * columns];
    const double highest = *std::max_element(x, x + columns);
    double total = 0;
    for (size_t c = 0; c < columns; ++c) total += std::exp(x[c] - highest);
    for (size_t c = 0; c < columns; ++c)
      ASSERT_NEAR(out[row * columns + c], std::exp(x[c] - highest) / total, 2e-6)
          << "row " << row << " column " << c;
  }
}

std::vector<float> rows_of(size_t count) {
  std::vector<float> v(count);
  uint32_t state = 5;
  for (float& x : v) x = static_cast<float>(next(state) % 2000) / 100 - 10;
  return v;
}

TEST_P(Foreign, SoftmaxOfRowsByShuffles) {
  PLD_NEEDS_COMPILER();
  std::vector<float> in = rows_of(13 * 100), out(in.size());
  PtxRunner k(ptx("softmax"));
  k.launch.entry = "softmax";
  k.array(in).array(out).scalar<int>(13).scalar<int>(100).shape({4, 1, 1}, {128, 1, 1});
  k.run_clean();
  expect_softmax(in, out, 100);
}

TEST_P(Foreign, SoftmaxOfRowsByVectors) {
  PLD_NEEDS_COMPILER();
  std::vector<float> in = rows_of(7 * 128), out(in.size());
  PtxRunner k(ptx("softmax"));
  k.launch.entry = "softmax_vector";
  k.array(in).array(out).scalar<int>(7).shape({2, 1, 1}, {32, 4, 1});
  k.run_clean();
  expect_softmax(in, out, 128);
}

TEST_P(Foreign, HistogramByAtomics) {
  PLD_NEEDS_COMPILER();
  std::vector<uint8_t> in(6001);
  std::vector<uint32_t> bins(256, 0), wanted(256, 0);
  constexpr uint8_t bin_of[256] = {0, 1, 1, 2, 2, 2, 2, 3};
  uint32_t state = 9;
  for (uint8_t& b : in) b = static_cast<uint8_t>(next(state) % 3 == 0 ? next(state) % 8 : next(state));
  for (const uint8_t b : in) ++wanted[static_cast<size_t>(bin_of[b] + (b & 0xf0))];
  PtxRunner k(ptx("histogram"));
  k.launch.entry = "histogram";
  k.array(in).array(bins).scalar<int>(6001).shape({5, 1, 1}, {192, 1, 1});
  k.run_clean();
  EXPECT_EQ(bins, wanted);
  // A global variable counts the CTAs, from 1.
  const Address calls = k.machine().symbol(*k.launch.module, "calls");
  uint64_t count = 0;
  std::memcpy(&count, k.machine().memory().find(calls, 8), 8);
  EXPECT_EQ(count, 6U);
}

TEST_P(Foreign, CooperativeGroupsReduceTilesOfSixteen) {
  PLD_NEEDS_COMPILER();
  std::vector<int> in(64), out(4, 0);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i);
  PtxRunner k(ptx("warps"));
  k.launch.entry = "groups";
  k.array(in).array(out).shape({1, 1, 1}, {64, 1, 1});
  k.run_clean();
  for (size_t tile = 1; tile < 4; ++tile)
    EXPECT_EQ(out[tile], std::accumulate(in.begin() + tile * 16, in.begin() + tile * 16 + 16, 0));
}

TEST_P(Foreign, ClusterSumsThroughDistributedSharedMemory) {
  PLD_NEEDS_COMPILER();
  std::vector<int> in{1, 20, 300, 4000, 5, 60, 700, 8000}, out(8, 0);
  PtxRunner k(ptx("clusters"));
  k.launch.entry = "cluster_sum";
  k.array(in).array(out).shape({8, 1, 1}, {32, 1, 1}, {4, 1, 1});
  k.run_clean();
  EXPECT_EQ(out, (std::vector<int>{4321, 4322, 4323, 4324, 8765, 8766, 8767, 8768}));
}

uint16_t half_of(float v) {
  return isa::num::cvt<isa::num::F16, isa::num::F32>(std::bit_cast<uint32_t>(v), {});
}

// Small integers, whose products and sums are exact in f32.
struct Halves {
  std::vector<float> values;
  std::vector<uint16_t> bits;
  Halves(size_t count, uint32_t seed) : values(count), bits(count) {
    for (size_t i = 0; i < count; ++i) bits[i] = half_of(values[i] = static_cast<float>(next(seed) % 9) - 4);
  }
};

TEST_P(Foreign, WarpMatrixByLdmatrixAndMma) {
  PLD_NEEDS_COMPILER();
  Halves a(16 * 16, 1), b(16 * 8, 2);
  std::vector<float> c(16 * 8, -1);
  PtxRunner k(ptx("warps"));
  k.launch.entry = "warp_matrix";
  k.array(a.bits).array(b.bits).array(c);
  k.run_clean();
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      float sum = 0;
      for (size_t n = 0; n < 16; ++n) sum += a.values[i * 16 + n] * b.values[n * 8 + j];
      ASSERT_EQ(c[i * 8 + j], sum) << i << ", " << j;
    }
}

isa::TensorMap map_of(uint64_t address, uint64_t rows, uint64_t columns) {
  isa::TensorMap m;
  m.data_type = isa::TensorDataType::f16;
  m.rank = 2;
  m.global_address = address;
  m.dims = {columns, rows};
  m.strides = {columns * 2};
  m.box = {64, 64};
  m.swizzle = isa::Swizzle::b128;
  return m;
}

TEST_P(Foreign, MatrixTilesByTmaAndWgmma) {
  PLD_NEEDS_COMPILER();
  constexpr size_t m = 128, n = 192, depth = 256;
  Halves a(m * depth, 3), b(n * depth, 4);
  for (const RunOptions& o : every_schedule()) {
    std::vector<float> c(m * n, -1);
    PtxRunner k(ptx("hopper_tile"));
    const auto bind = [&](Halves& h) {
      return k.machine().memory().bind({reinterpret_cast<uint8_t*>(h.bits.data()), h.bits.size() * 2},
                                       "factor");
    };
    for (const isa::TensorMap& map : {map_of(bind(a), m, depth), map_of(bind(b), n, depth)})
      k.scalar(isa::encode(map));
    k.array(c).scalar<int>(n).scalar<int>(depth).shape({n / 64, m / 64, 1}, {128, 1, 1});
    k.launch.dynamic_shared = 4 * 64 * 64 * 2 + 1024;
    k.run_clean(o);
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        float sum = 0;
        for (size_t d = 0; d < depth; ++d) sum += a.values[i * depth + d] * b.values[j * depth + d];
        ASSERT_EQ(c[i * n + j], sum) << i << ", " << j;
      }
    if (GetParam()) return;  // schedules are the business of the committed text
  }
}

INSTANTIATE_TEST_SUITE_P(Ptx, Foreign, ::testing::Values(false, true),
                         [](const auto& i) { return i.param ? "CompiledNow" : "Committed"; });

}  // namespace
}  // namespace palladion::sim::testing
