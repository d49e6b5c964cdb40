// Tensor copies on a GPU: isa/formats says what the hardware does. Findings: tests/device/tma.md.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "isa/formats/tensor_values.h"
#include "isa/formats/tensor_walk.h"
#include "tests/cuda/native/on_device.h"
#include "tests/cuda/native/tensor_copy_probe.h"

namespace palladion::cuda::native {
namespace {

using isa::Swizzle;
using isa::TensorDataType;
using isa::TensorMap;
using isa::TensorMapMode;
using Tile = std::vector<std::byte>;

class TensorCopy : public OnDevice {
 protected:
  static constexpr size_t global_bytes = 1 << 20;
  static constexpr size_t tensor_at = 4096;

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

  // The tile after the copy: what a load brought, or what a store took it from.
  Tile run(ProbeKind kind, const TensorMap& map, const isa::TensorWalk& walk, std::array<int32_t, 5> at,
           std::array<uint16_t, 3> taps,
           const Tile& before = Tile(probe_tile_bytes, std::byte{probe_poison})) {
    const TensorMapHandle handle = must(device_->encode(map));
    const Module module = must(device_->load(tensor_copy_probe(map.rank, map.mode, kind)));
    const Function kernel = must(module.function("probe"));
    must(out_->upload(before, 16));
    Arguments arguments;
    arguments.add(handle)
        .add(out_->address())
        .add(walk.transaction_bytes())
        .add(probe_tile_bytes)
        .add(at)
        .add(taps);
    must(kernel.launch({}, arguments));
    must(device_->wait({.limit = std::chrono::seconds(20)}));
    Tile raw(probe_tile_bytes + 16);
    must(out_->download(raw));
    EXPECT_EQ(raw[0], std::byte{1}) << "the barrier did not complete with " << walk.transaction_bytes()
                                    << " bytes";
    return {raw.begin() + 16, raw.end()};
  }

  static isa::TensorWalk walk_of(const TensorMap& map, std::array<int32_t, 5>& at,
                                 std::array<uint16_t, 3>& taps) {
    const std::span coordinates(at.data(), static_cast<size_t>(map.rank));
    const auto walk = map.mode == TensorMapMode::tiled
                          ? isa::TensorWalk::tiled(map, coordinates)
                          : isa::TensorWalk::im2col(
                                map, coordinates, std::span(taps.data(), static_cast<size_t>(map.rank - 2)));
    if (!walk) throw std::runtime_error(walk.error().reason);
    EXPECT_LE(walk->footprint_bytes(), probe_tile_bytes);
    return *walk;
  }

  void expect_same(TensorMap map, std::array<int32_t, 5> at, std::array<uint16_t, 3> taps = {}) {
    map.global_address = global_->address() + tensor_at;
    const isa::TensorWalk walk = walk_of(map, at, taps);
    Tile expected(probe_tile_bytes, std::byte{probe_poison});
    const Tile zeros(1024);
    walk.for_each_run([&](const isa::BoxRun& run) {
      const std::byte* from = run.in_bounds ? host_.data() + tensor_at + run.global_offset : zeros.data();
      isa::store_swizzled(expected.data(), run.tile_offset, from, run.bytes, map.swizzle);
    });
    const Tile got = run(ProbeKind::load, map, walk, at, taps);
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(got[i], expected[i]) << "byte " << i << " of the tile, row pitch " << walk.row_pitch();
  }

  void expect_same_store(TensorMap map, std::array<int32_t, 5> at) {
    map.global_address = global_->address() + tensor_at;
    std::array<uint16_t, 3> taps{};
    const isa::TensorWalk walk = walk_of(map, at, taps);
    Tile tile(probe_tile_bytes);
    std::mt19937 rng(5);
    for (auto& b : tile) b = static_cast<std::byte>(rng());
    Tile expected = host_;
    walk.for_each_run([&](const isa::BoxRun& run) {
      if (run.in_bounds)
        isa::load_swizzled(expected.data() + tensor_at + run.global_offset, tile.data(), run.tile_offset,
                           run.bytes, map.swizzle);
    });
    must(global_->upload(host_));
    run(ProbeKind::store, map, walk, at, {}, tile);
    Tile got(global_bytes);
    must(global_->download(got));
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], expected[i]) << "byte " << i << " of global memory";
  }

  // 64 elements of a one-dimensional tensor of 1024, as 32-bit words.
  std::vector<uint32_t> load_row(TensorDataType type, int32_t at, isa::OobFill fill,
                                 std::span<const uint32_t> from) {
    TensorMap m;
    m.data_type = type;
    m.rank = 1;
    m.dims = {1024};
    m.box = {64};
    m.oob_fill = fill;
    m.global_address = global_->address();
    must(global_->upload(std::as_bytes(from)));
    std::array<int32_t, 5> place{at};
    std::array<uint16_t, 3> taps{};
    const isa::TensorWalk walk = walk_of(m, place, taps);
    const Tile tile = run(ProbeKind::load, m, walk, place, taps);
    std::vector<uint32_t> words(walk.transaction_bytes() / 4);
    std::memcpy(words.data(), tile.data(), words.size() * 4);
    return words;
  }

  static TensorMap matrix(uint32_t inner, Swizzle swizzle) {
    TensorMap m;
    m.data_type = TensorDataType::u16;
    m.rank = 2;
    m.dims = {120, 100};
    m.strides = {256};
    m.box = {inner, 20};
    m.swizzle = swizzle;
    return m;
  }

  Tile host_;
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
  expect_same(matrix(64, Swizzle::b128), {-8, -5});
  expect_same(matrix(64, Swizzle::b128), {96, 95});
  expect_same(matrix(64, Swizzle::none), {1000, -1000});
  expect_same(matrix(64, Swizzle::none), {-64, 1});
  expect_same(matrix(64, Swizzle::none), {112, 99});
}

TEST_F(TensorCopy, Stores) {
  expect_same_store(matrix(64, Swizzle::b128), {8, 3});
  expect_same_store(matrix(64, Swizzle::b128), {96, 95});
  expect_same_store(matrix(32, Swizzle::b128), {112, 99});
  expect_same_store(matrix(16, Swizzle::b32), {8, 3});
  TensorMap m = matrix(64, Swizzle::none);
  m.element_strides = {1, 3};
  expect_same_store(m, {8, 6});
}

TEST_F(TensorCopy, ElementStrides) {
  TensorMap m = matrix(64, Swizzle::b128);
  m.element_strides = {1, 3};
  expect_same(m, {8, -4});
  m.element_strides = {2, 2};  // the first is ignored without interleave
  expect_same(m, {8, 90});
}

TEST_F(TensorCopy, FiveDimensions) {
  TensorMap m;
  m.data_type = TensorDataType::f32;
  m.rank = 5;
  m.dims = {20, 9, 5, 4, 3};
  m.strides = {80, 720, 3600, 14400};
  m.box = {8, 4, 3, 2, 2};
  m.element_strides = {1, 2, 1, 1, 2};
  expect_same(m, {4, 2, -1, 1, 1});
  expect_same(m, {16, -3, 3, -1, -1});
}

TensorMap image(int rank) {
  TensorMap m;
  m.mode = TensorMapMode::im2col;
  m.data_type = TensorDataType::u16;
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
  expect_same(image(3), {8, -1, 0}, {2});
  expect_same(image(4), {8, 1, -2, 0}, {2, 1});
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

TEST_F(TensorCopy, NanFill) {
  const std::vector<uint32_t> data(2048, 0x12345678);
  for (auto type : {TensorDataType::f16, TensorDataType::bf16, TensorDataType::f32, TensorDataType::f32_ftz,
                    TensorDataType::tf32, TensorDataType::tf32_ftz, TensorDataType::f64}) {
    const uint32_t both = uint32_t{isa::tensor_nan_fill} << 16 | isa::tensor_nan_fill;
    const auto words = load_row(type, 1024, isa::OobFill::nan_request_zero_fma, data);
    EXPECT_THAT(words, ::testing::Each(both)) << name(type);
    const auto inside = load_row(type, 0, isa::OobFill::nan_request_zero_fma, data);
    EXPECT_THAT(inside, ::testing::Not(::testing::Contains(both))) << name(type);
  }
}

TEST_F(TensorCopy, WhatLoadsDoToFloats) {
  std::vector<uint32_t> data(1024);
  std::mt19937 random(3);
  const auto rng = [&] { return static_cast<uint32_t>(random()); };
  for (size_t i = 0; i < data.size(); ++i) {
    const uint32_t low[] = {0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x3000, rng() & 0x7FFFFF, 0x7FFFFF};
    const uint32_t high[] = {0, 0x00800000, 0x3F800000, 0x7F000000, 0x7F800000, rng() & 0x7F800000};
    data[i] = low[rng() % 10] | high[rng() % 6] | (rng() & 0x80000000);
  }
  for (auto type :
       {TensorDataType::f32, TensorDataType::f32_ftz, TensorDataType::tf32, TensorDataType::tf32_ftz}) {
    for (int32_t at = 0; at < 1024; at += 64) {
      std::vector<uint32_t> expected(data.begin() + at, data.begin() + at + 64);
      if (isa::is_rounded_by_loads(type))
        isa::round_loaded({reinterpret_cast<uint8_t*>(expected.data()), 256});
      ASSERT_EQ(load_row(type, at, isa::OobFill::zero, data), expected) << name(type);
    }
  }
}

// It takes the device from its process, so it has one of its own.
TEST_F(TensorCopy, ARowThatStartsBetween16BytesIsAnIllegalInstruction) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto copy = [this] {
    TensorMap m = matrix(64, Swizzle::none);
    m.global_address = global_->address() + tensor_at;
    std::array<int32_t, 5> aligned{8, 3};
    std::array<uint16_t, 3> taps{};
    try {
      run(ProbeKind::load, m, walk_of(m, aligned, taps), {4, 3}, taps);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      std::_Exit(1);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(copy(), ::testing::ExitedWithCode(1), "ILLEGAL_INSTRUCTION");
}

TEST(TensorCopyProbe, Assembles) {
  if (std::system("command -v ptxas >/dev/null 2>&1") != 0) GTEST_SKIP() << "ptxas is absent";
  const auto folder = std::filesystem::path(::testing::TempDir());
  for (int rank = 1; rank <= 5; ++rank)
    for (TensorMapMode mode : {TensorMapMode::tiled, TensorMapMode::im2col}) {
      if (mode == TensorMapMode::im2col && rank < 3) continue;
      for (ProbeKind kind : {ProbeKind::load, ProbeKind::store}) {
        const std::string file = folder / fmt::format("pld_probe_{}.ptx", rank);
        std::ofstream(file) << tensor_copy_probe(rank, mode, kind);
        EXPECT_EQ(std::system(("ptxas -arch sm_90a -o /dev/null " + file).c_str()), 0) << rank;
        std::filesystem::remove(file);
      }
    }
}

}  // namespace
}  // namespace palladion::cuda::native
