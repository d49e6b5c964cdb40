// What only a GPU can answer; skipped, and says so, where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "isa/formats/tensor_walk.h"
#include "native/device.h"
#include "tensor_copy_probe.h"

namespace palladion::native {
namespace {

using ::testing::HasSubstr;
using isa::Swizzle;
using isa::TensorMap;
using isa::TensorMapMode;

constexpr const char* double_it = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry double_it(.param .u64 data, .param .u32 n) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd0, [data];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p bra END;
  cvta.to.global.u64 %rd0, %rd0;
  mul.wide.u32 %rd1, %r4, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r5, [%rd2];
  add.u32 %r5, %r5, %r5;
  st.global.u32 [%rd2], %r5;
END:
  ret;
}
.visible .entry spin() {
L: bra L;
}
)";

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const Availability a = Device::available();
    if (!a.usable()) GTEST_SKIP() << "NOT TESTED, " << a.reason;
    if (a.devices[0].sm != 90) GTEST_SKIP() << "NOT TESTED, the device is no Hopper: " << a.devices[0].name;
    auto opened = Device::open();
    ASSERT_TRUE(opened) << opened.error()[0].message;
    device_.emplace(std::move(*opened));
  }

  template <class T>
  T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error()[0].message + result.error()[0].help);
    return std::move(*result);
  }
  void must(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error()[0].message);
  }

  std::optional<Device> device_;
};

TEST_F(OnDevice, RunsAKernel) {
  const Module module = must(device_->load(double_it));
  const Function kernel = must(module.function("double_it"));
  std::vector<uint32_t> data(1000), back(1000);
  std::iota(data.begin(), data.end(), 5);
  Buffer buffer = must(device_->allocate(4000));
  must(buffer.upload(std::as_bytes(std::span(data))));
  Arguments arguments;
  arguments.add(buffer.address()).add(uint32_t{1000});
  const LaunchShape shape{.grid = {8}, .block = {128}};
  must(kernel.launch(shape, arguments));
  must(device_->wait(std::chrono::seconds(5)));
  must(buffer.download(std::as_writable_bytes(std::span(back))));
  for (size_t i = 0; i < data.size(); ++i) ASSERT_EQ(back[i], 2 * data[i]);
  EXPECT_GT(must(kernel.attributes()).registers, 0);
  const Timing timing = must(device_->time([&] { return kernel.launch(shape, arguments); }));
  EXPECT_EQ(timing.samples_us.size(), 20u);
  EXPECT_GT(timing.median_us, 0);
}

TEST_F(OnDevice, RefusesWrongLaunches) {
  const Module module = must(device_->load(double_it));
  const Function kernel = must(module.function("double_it"));
  Arguments one;
  one.add(uint64_t{0});
  EXPECT_THAT(kernel.launch({}, one).error()[0].message, HasSubstr("has 2 parameters, 1 were given"));
  Arguments wide;
  wide.add(uint64_t{0}).add(uint64_t{0});
  EXPECT_THAT(kernel.launch({}, wide).error()[0].message, HasSubstr("parameter 1 of `double_it` has 4 bytes, 8"));
  Arguments right;
  right.add(uint64_t{0}).add(uint32_t{0});
  EXPECT_THAT(kernel.launch({.dynamic_shared_bytes = 300000}, right).error()[0].message, HasSubstr("300000 bytes"));
  EXPECT_EQ(kernel.launch({.block = {2000}}, right).error()[0].code, "PLD8004");
  EXPECT_THAT(module.function("nothing").error()[0].message, HasSubstr("entry `nothing`"));
}

TEST_F(OnDevice, NamesTheLineOfBrokenPtx) {
  const auto broken = device_->load(".version 8.0\n.target sm_90a\n.address_size 64\n.entry k() {\n  foo.u32 %r;\n}\n");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error()[0].code, "PLD8005");
  EXPECT_EQ(broken.error()[0].loc.line, 5u);
}

// ---- tensor copies: the walk is what the hardware does -------------------------------------------

class TensorCopy : public OnDevice {
 protected:
  static constexpr size_t global_bytes = 1 << 20;

  void SetUp() override {
    OnDevice::SetUp();
    if (!device_) return;
    std::mt19937 rng(11);
    host_.resize(global_bytes);
    for (auto& b : host_) b = static_cast<std::byte>(rng() | 1);  // never 0: fill shows
    global_.emplace(must(device_->allocate(global_bytes)));
    must(global_->upload(host_));
    out_.emplace(must(device_->allocate(probe_tile_bytes + 16)));
  }

  // The tile that the device leaves; empty (with a failure) when its barrier never completes.
  std::vector<std::byte> load(const TensorMap& map, const isa::TensorWalk& walk, std::array<int32_t, 5> at,
                              std::array<uint16_t, 3> taps) {
    const TensorMapHandle handle = must(device_->encode(map));
    const Module module = must(device_->load(tensor_copy_probe(map.rank, map.mode)));
    const Function kernel = must(module.function("probe"));
    Arguments arguments;
    arguments.add(handle).add(out_->address()).add(walk.transaction_bytes()).add(probe_tile_bytes).add(at).add(taps);
    must(kernel.launch({}, arguments));
    must(device_->wait(std::chrono::seconds(20)));
    std::vector<std::byte> raw(probe_tile_bytes + 16);
    must(out_->download(raw));
    EXPECT_EQ(raw[0], std::byte{1}) << "the barrier did not complete with " << walk.transaction_bytes() << " bytes";
    return {raw.begin() + 16, raw.end()};
  }

  void expect_same(TensorMap map, std::array<int32_t, 5> at, std::array<uint16_t, 3> taps = {}) {
    map.global_address = global_->address() + 4096;
    const std::span coordinates(at.data(), map.rank);
    const auto walk = map.mode == TensorMapMode::tiled
                          ? isa::TensorWalk::tiled(map, coordinates)
                          : isa::TensorWalk::im2col(map, coordinates, std::span(taps.data(), map.rank - 2));
    ASSERT_TRUE(walk) << walk.error();
    ASSERT_LE(walk->footprint_bytes(), probe_tile_bytes);
    std::vector<std::byte> expected(probe_tile_bytes, std::byte{probe_poison});
    const std::vector<std::byte> zeros(1024);
    walk->for_each_run([&](const isa::BoxRun& run) {
      const std::byte* from = run.in_bounds ? host_.data() + 4096 + run.global_offset : zeros.data();
      isa::store_swizzled(expected.data(), run.tile_offset, from, run.bytes, map.swizzle);
    });
    const auto got = load(map, *walk, at, taps);
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(got[i], expected[i]) << "byte " << i << " of the tile, row pitch " << walk->row_pitch();
  }

  static TensorMap matrix(uint32_t inner, Swizzle swizzle) {
    TensorMap m;
    m.data_type = isa::TensorDataType::u16;
    m.rank = 2;
    m.dims = {120, 100};
    m.strides = {256};
    m.box = {inner, 20};
    m.swizzle = swizzle;
    return m;
  }

  std::vector<std::byte> host_;
  std::optional<Buffer> global_, out_;
};

TEST_F(TensorCopy, FullRowsOfEverySwizzle) {
  expect_same(matrix(64, Swizzle::b128), {8, 3});
  expect_same(matrix(32, Swizzle::b64), {8, 3});
  expect_same(matrix(16, Swizzle::b32), {8, 3});
  expect_same(matrix(128, Swizzle::none), {0, 3});
}

TEST_F(TensorCopy, RowsNarrowerThanTheSwizzle) {
  expect_same(matrix(32, Swizzle::b128), {8, 3});
  expect_same(matrix(8, Swizzle::b64), {8, 3});
  expect_same(matrix(8, Swizzle::b32), {0, 3});
}

TEST_F(TensorCopy, EdgesAndNegativeCoordinates) {
  expect_same(matrix(64, Swizzle::b128), {-3, -5});
  expect_same(matrix(64, Swizzle::b128), {100, 95});
  expect_same(matrix(64, Swizzle::none), {1000, -1000});
  expect_same(matrix(64, Swizzle::none), {1, 1});
}

TEST_F(TensorCopy, ElementStrides) {
  TensorMap m = matrix(64, Swizzle::b128);
  m.element_strides = {1, 3};
  expect_same(m, {5, -4});
  m.element_strides = {2, 2};  // the first is ignored without interleave
  expect_same(m, {5, 90});
}

TEST_F(TensorCopy, FiveDimensions) {
  TensorMap m;
  m.data_type = isa::TensorDataType::f32;
  m.rank = 5;
  m.dims = {20, 9, 5, 4, 3};
  m.strides = {80, 720, 3600, 14400};
  m.box = {8, 4, 3, 2, 2};
  m.element_strides = {1, 2, 1, 1, 2};
  expect_same(m, {3, 2, -1, 1, 1});
}

TensorMap image(int rank) {
  TensorMap m;
  m.mode = TensorMapMode::im2col;
  m.data_type = isa::TensorDataType::u16;
  m.rank = rank;
  m.dims = {24, 7, 5, 3, 2};
  if (rank == 4) m.dims = {24, 7, 5, 2, 1};
  if (rank == 3) m.dims = {24, 7, 2, 1, 1};
  uint64_t stride = 48;
  for (int i = 0; i + 1 < rank; ++i) m.strides[i] = stride, stride *= m.dims[i + 1];
  m.lower_corner = {-1, -2, -1};
  m.upper_corner = {-1, 0, -1};
  m.channels_per_pixel = 16;
  m.pixels_per_column = 61;
  return m;
}

TEST_F(TensorCopy, Im2col) {
  expect_same(image(3), {4, -1, 0}, {2});
  expect_same(image(4), {4, 1, -2, 0}, {2, 1});
  expect_same(image(5), {16, 1, 0, 1, 0}, {0, 1, 2});
}

TEST_F(TensorCopy, Im2colWithStrides) {
  TensorMap m = image(4);
  m.element_strides = {1, 2, 2, 1, 1};
  expect_same(m, {0, -1, -2, 0}, {1, 1});
  m.element_strides = {1, 3, 1, 1, 1};
  m.swizzle = Swizzle::b32;
  expect_same(m, {0, 2, 0, 0}, {0, 2});
}

// The bit pattern of the NaN fill is documented nowhere: read it off.
TEST_F(TensorCopy, ReportsTheNanFill) {
  for (auto type : {isa::TensorDataType::f16, isa::TensorDataType::bf16, isa::TensorDataType::f32,
                    isa::TensorDataType::tf32, isa::TensorDataType::f64}) {
    TensorMap m;
    m.data_type = type;
    m.rank = 1;
    m.dims = {1024};
    m.box = {64};
    m.oob_fill = isa::OobFill::nan_request_zero_fma;
    m.global_address = global_->address();
    const int32_t at[] = {2048};
    const auto tile = load(m, *isa::TensorWalk::tiled(m, at), {2048}, {});
    uint64_t pattern = 0;
    std::memcpy(&pattern, tile.data(), isa::bits(type) / 8);
    std::printf("NaN fill of %s: %llx\n", std::string(isa::name(type)).c_str(),
                static_cast<unsigned long long>(pattern));
    EXPECT_NE(pattern, 0u);
  }
}

// Last: a kernel that never ends takes the device from this process.
TEST_F(OnDevice, ZGivesUpOnAKernelThatNeverEnds) {
  if (!std::getenv("PLD_TEST_HANG")) GTEST_SKIP() << "set PLD_TEST_HANG=1: it leaves a kernel running until exit";
  const Module module = must(device_->load(double_it));
  must(must(module.function("spin")).launch({}, {}));
  const auto late = device_->wait(std::chrono::milliseconds(200));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error()[0].code, "PLD8007");
  std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(TensorCopyProbe, Assembles) {
  if (std::system("command -v ptxas >/dev/null 2>&1") != 0) GTEST_SKIP() << "NOT TESTED, there is no ptxas";
  const auto folder = std::filesystem::path(::testing::TempDir());
  for (int rank = 1; rank <= 5; ++rank)
    for (TensorMapMode mode : {TensorMapMode::tiled, TensorMapMode::im2col}) {
      if (mode == TensorMapMode::im2col && rank < 3) continue;
      const std::string file = folder / fmt::format("pld_probe_{}.ptx", rank);
      std::ofstream(file) << tensor_copy_probe(rank, mode);
      EXPECT_EQ(std::system(("ptxas -arch sm_90a -o /dev/null " + file).c_str()), 0) << rank;
      std::filesystem::remove(file);
    }
}

}  // namespace
}  // namespace palladion::native
