// Products with scales of blocks and with a sparse operand, in the machine against sums of doubles; what is
// refused, and the line that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "frontend/plgpu.h"
#include "report/text/finding_text.h"
#include "tests/kernels/blackwell_operands.h"
#include "verify/arrays/tensor_core.h"
#include "verify/launch/runner.h"

namespace palladion::test_scales {
namespace {

using plgpu::Ref;
using plgpu::TMEMLayout;
using ::testing::HasSubstr;

// --- one CTA, or a pair
// --------------------------------------------------------------------------------------

struct ScaledCase {
  int64_t n = 128, k = 128;
  pl::DType a = pl::e4m3, b = pl::e4m3, scale = pl::ue8m0;
  int64_t block = 32;
  int ctas = 1;
  bool sparse = false;
  int64_t stored_k() const { return sparse ? k / 2 : k; }
};

std::ostream& operator<<(std::ostream& out, const ScaledCase& c) {
  return out << pl::name(c.a) << "_" << pl::name(c.b) << "_" << pl::name(c.scale) << c.block << "_" << c.n
             << "x" << c.k << (c.ctas == 2 ? "_pair" : "") << (c.sparse ? "_sparse" : "");
}

constexpr int64_t m = 128;  // rows of a CTA

// A part of the columns at a time: registers hold no 256.
void store(const Ref& acc, const Ref& out) {
  for (int64_t n = 0; n < acc.shape(1); n += 128) {
    const auto columns = pl::ds(n, std::min<int64_t>(128, acc.shape(1) - n));
    out.at(pl::all, columns).store(plgpu::async_load_tmem(acc.at(pl::all, columns)));
  }
}

plgpu::KernelOptions options_of(const ScaledCase& c) {
  const bool pair = c.ctas == 2;
  const int64_t blocks = c.k / c.block, rows = m * c.ctas;
  const auto tmem = [&](int64_t of) {
    return plgpu::TMEM({of, blocks}, c.scale, {.collective = pair, .layout = TMEMLayout::SCALES_LAYOUT});
  };
  std::vector<pl::ShapeDtype> inputs = {{c.a, {rows, c.stored_k()}},
                                        {c.b, {c.n, c.k}},
                                        {c.scale, tiled_scale_shape(rows, blocks)},
                                        {c.scale, tiled_scale_shape(c.n, blocks)}};
  const int64_t padded_n = pl::align_to(c.n, 128);
  pl::Shape a_scale_shape = tiled_scale_shape(m, blocks), b_scale_shape = tiled_scale_shape(c.n, blocks);
  plgpu::KernelOptions o;
  o.scratch_types = {{"a", operand({m, c.stored_k()}, c.a)},
                     {"b", operand({c.n / c.ctas, c.k}, c.b)},
                     {"a_scale_smem", plgpu::SMEM(a_scale_shape, c.scale)},
                     {"b_scale_smem", plgpu::SMEM(b_scale_shape, c.scale)},
                     {"acc", plgpu::TMEM({m, c.n}, pl::f32, {.collective = pair})},
                     {"a_scale", tmem(m)},
                     {"b_scale", tmem(padded_n)},
                     {"loaded", plgpu::Barrier({.num_arrivals = c.sparse ? 5 : 4})},
                     {"done", plgpu::Barrier({.orders_tensor_core = true})}};
  if (c.sparse) {
    inputs.push_back({pl::u2, tiled_metadata_shape(rows, c.k)});
    o.scratch_types.push_back({"meta_smem", plgpu::SMEM(tiled_metadata_shape(m, c.k), pl::u2)});
    o.scratch_types.push_back(
        {"meta", plgpu::TMEM({m, c.k / 2}, pl::u2,
                             {.collective = pair, .layout = TMEMLayout::SPARSE_METADATA_LAYOUT})});
  }
  o.in_types = inputs;
  o.out_type = {pl::f32, {rows, c.n}};
  if (pair) {
    o.cluster = {2};
    o.cluster_names = {"cluster"};
  }
  o.arch = &b200();
  return o;
}

plgpu::Kernel product(const ScaledCase& c) {
  const bool pair = c.ctas == 2;
  const std::string axis = pair ? "cluster" : "";
  const plgpu::KernelBody body = [&](const std::vector<Ref>& x, plgpu::Scratch& s) {
    plgpu::CopyInOptions half, whole;
    if (pair) {
      half = {.collective_axes = {axis}, .leader_tracked = plgpu::CopyPartition::PARTITIONED(0)};
      whole = {.collective_axes = {axis}, .leader_tracked = plgpu::CopyPartition::REPLICATED};
    }
    const auto& loaded = s.barrier("loaded");
    plgpu::copy_gmem_to_smem(x[0], s["a"], loaded, half);
    plgpu::copy_gmem_to_smem(x[1], s["b"], loaded, half);
    plgpu::copy_gmem_to_smem(x[2], s["a_scale_smem"], loaded, half);
    plgpu::copy_gmem_to_smem(x[3], s["b_scale_smem"], loaded, whole);
    if (c.sparse) plgpu::copy_gmem_to_smem(x[4], s["meta_smem"], loaded, half);
    const pl::Scalar place = pair ? pl::axis_index(axis) : pl::Scalar(0);
    pl::when(place == 0, [&] {
      plgpu::barrier_wait(loaded);
      plgpu::async_copy_scales_to_tmem(s["a_scale_smem"], s["a_scale"], {.collective_axis = axis});
      plgpu::async_copy_scales_to_tmem(s["b_scale_smem"], s["b_scale"], {.collective_axis = axis});
      plgpu::Tcgen05Options options{
          .accumulate = false, .collective_axis = axis, .a_scale = s["a_scale"], .b_scale = s["b_scale"]};
      if (c.sparse) {
        plgpu::async_copy_sparse_metadata_to_tmem(s["meta_smem"], s["meta"], {.collective_axis = axis});
        options.a_sparse_metadata = s["meta"];
      }
      plgpu::tcgen05_mma(s["acc"], s["a"], plgpu::transpose_ref(s["b"], {1, 0}), s.barrier("done"), options);
    });
    plgpu::barrier_wait(s.barrier("done"));
    store(s["acc"], x.back().at(pl::ds(place * m, m)));
  };
  return plgpu::record_kernel(body, options_of(c), std::source_location::current());
}

// For each four elements of K the two that are stored, in ascending order.
Array random_pairs(int64_t rows, int64_t k, uint64_t seed) {
  constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  const Array which =
      filled({pl::u8, {rows, k / 4}}, {.kind = Fill::Kind::randint, .seed = seed, .low = 0, .high = 6});
  Array out({pl::u2, {rows, k / 2}});
  for (int64_t i = 0; i < which.size(); ++i)
    for (int j = 0; j < 2; ++j) set_value(out, 2 * i + j, pairs[bits_at(which, i)][j]);
  return out;
}

// A with the elements that are not stored.
std::vector<double> dense(const Array& a, const Array& pairs) {
  const int64_t rows = a.type.shape[0], stored = a.type.shape[1];
  std::vector<double> out(static_cast<size_t>(rows * 2 * stored));
  for (int64_t i = 0; i < rows * stored; ++i) {
    const int64_t row = i / stored, at = i % stored / 2 * 4 + static_cast<int64_t>(value_at(pairs, i));
    out[static_cast<size_t>(row * 2 * stored + at)] = value_at(a, i);
  }
  return out;
}

Array random_scales(pl::DType dtype, int64_t rows, int64_t blocks, uint64_t seed) {
  if (dtype != pl::ue8m0) return filled({dtype, {rows, blocks}}, {.kind = Fill::Kind::rand, .seed = seed});
  Array bits =
      filled({pl::u8, {rows, blocks}}, {.kind = Fill::Kind::randint, .seed = seed, .low = 122, .high = 132});
  bits.type.dtype = dtype;
  return bits;
}

void multiply_by_scales(std::vector<double>& values, const Array& scales, int64_t k, int64_t block) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    values[i] *= value_at(scales, at / k * (k / block) + at % k / block);
  }
}

// The largest |out - sum| in units of the sum of the terms' magnitudes.
double worst_error(const std::vector<double>& a, const std::vector<double>& b, int64_t k, const Array& out) {
  const int64_t rows = out.type.shape[0], n = out.type.shape[1];
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t t = 0; t < k; ++t) {
        const double term = a[static_cast<size_t>(i * k + t)] * b[static_cast<size_t>(j * k + t)];
        sum += term;
        magnitude += std::abs(term);
      }
      worst = std::max(worst, std::abs(value_at(out, i * n + j) - sum) / (magnitude + 1e-30));
    }
  return worst;
}

class ScaledProducts : public ::testing::TestWithParam<ScaledCase> {};

TEST_P(ScaledProducts, AreThoseOfTheScaledMatrices) {
  const ScaledCase& c = GetParam();
  const int64_t rows = m * c.ctas, blocks = c.k / c.block;
  const Array a = filled({c.a, {rows, c.stored_k()}}, {.kind = Fill::Kind::randn, .seed = 1}),
              b = filled({c.b, {c.n, c.k}}, {.kind = Fill::Kind::randn, .seed = 2}),
              a_scale = random_scales(c.scale, rows, blocks, 3),
              b_scale = random_scales(c.scale, c.n, blocks, 4);
  std::vector<double> left = to_doubles(a), right = to_doubles(b);
  std::vector<Array> in = {a, b, tile_scales(a_scale), tile_scales(b_scale)};
  if (c.sparse) {
    const Array pairs = random_pairs(rows, c.k, 5);
    left = dense(a, pairs);
    in.push_back(tile_sparse_metadata(pairs, c.a));
  }
  multiply_by_scales(left, a_scale, c.k, c.block);
  multiply_by_scales(right, b_scale, c.k, c.block);
  const plgpu::Kernel kernel = product(c);
  sim::Machine machine(b200());
  for (const char* schedule : {"functional", "latest", "seeded:5"}) {
    sim::RunOptions options;
    options.schedule = *sim::schedule_named(schedule);
    const SimOutcome out = run(kernel, in, machine, options);
    ASSERT_TRUE(out.result.clean()) << report::finding_text(out.result.findings.front());
    EXPECT_LT(worst_error(left, right, c.k, out.outputs[0]), 1e-6) << schedule;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ScaledProducts,
    ::testing::Values(
        ScaledCase{}, ScaledCase{.n = 256, .k = 256}, ScaledCase{.n = 64, .k = 128, .a = pl::e5m2},
        ScaledCase{.k = 384, .a = pl::e5m2, .b = pl::e5m2},
        ScaledCase{.n = 256, .k = 256, .a = pl::e2m1, .b = pl::e2m1},
        ScaledCase{.k = 256, .a = pl::e2m1, .b = pl::e2m1, .block = 16},
        ScaledCase{.n = 192, .k = 512, .a = pl::e2m1, .b = pl::e2m1, .scale = pl::e4m3, .block = 16},
        ScaledCase{.n = 256, .k = 256, .ctas = 2},
        ScaledCase{
            .n = 256, .k = 512, .a = pl::e2m1, .b = pl::e2m1, .scale = pl::e4m3, .block = 16, .ctas = 2},
        ScaledCase{.n = 128, .k = 256, .a = pl::e5m2, .b = pl::e5m2, .block = 64, .sparse = true},
        ScaledCase{.n = 256, .k = 512, .block = 64, .ctas = 2, .sparse = true}));

// --- a sparse operand
// ----------------------------------------------------------------------------------------

struct SparseCase {
  int64_t n = 128, k = 128;
  pl::DType dtype = pl::f16;
  pl::DType acc = pl::f32;
  int64_t swizzle = 64;
  int64_t b_swizzle = 0;  // 0: as that of a
};

std::ostream& operator<<(std::ostream& out, const SparseCase& c) {
  return out << pl::name(c.dtype) << "_" << c.n << "x" << c.k << "_swizzle" << c.swizzle;
}

plgpu::Kernel product(const SparseCase& c) {
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& metadata, const Ref& out, plgpu::Scratch& s) {
        const auto& loaded = s.barrier("loaded");
        plgpu::copy_gmem_to_smem(a, s["a"], loaded);
        plgpu::copy_gmem_to_smem(b, s["b"], loaded);
        plgpu::copy_gmem_to_smem(metadata, s["metadata_smem"], loaded);
        plgpu::barrier_wait(loaded);
        plgpu::async_copy_sparse_metadata_to_tmem(s["metadata_smem"], s["metadata"]);
        plgpu::tcgen05_mma(s["acc"], s["a"], plgpu::transpose_ref(s["b"], {1, 0}), s.barrier("done"),
                           {.accumulate = false, .a_sparse_metadata = s["metadata"]});
        plgpu::barrier_wait(s.barrier("done"));
        store(s["acc"], out);
      },
      {.in_types = {{c.dtype, {m, c.k / 2}}, {c.dtype, {c.n, c.k}}, {pl::u2, tiled_metadata_shape(m, c.k)}},
       .out_type = {c.acc, {m, c.n}},
       .scratch_types = {{"a", operand({m, c.k / 2}, c.dtype, c.swizzle)},
                         {"b", operand({c.n, c.k}, c.dtype, c.b_swizzle == 0 ? c.swizzle : c.b_swizzle)},
                         {"metadata_smem", plgpu::SMEM(tiled_metadata_shape(m, c.k), pl::u2)},
                         {"acc", plgpu::TMEM({m, c.n}, c.acc)},
                         {"metadata",
                          plgpu::TMEM({m, c.k / 2}, pl::u2, {.layout = TMEMLayout::SPARSE_METADATA_LAYOUT})},
                         {"loaded", plgpu::Barrier({.num_arrivals = 3})},
                         {"done", plgpu::Barrier({.orders_tensor_core = true})}},
       .arch = &b200()});
}

class SparseProducts : public ::testing::TestWithParam<SparseCase> {};

TEST_P(SparseProducts, AreThoseOfTheWholeMatrices) {
  const SparseCase& c = GetParam();
  const Array a = filled({c.dtype, {m, c.k / 2}}, {.kind = Fill::Kind::randn, .seed = 1}),
              b = filled({c.dtype, {c.n, c.k}}, {.kind = Fill::Kind::randn, .seed = 2}),
              pairs = random_pairs(m, c.k, 3);
  const std::vector<Array> in = {a, b, tile_sparse_metadata(pairs, c.dtype)};
  sim::Machine machine(b200());
  const SimOutcome out = run(product(c), in, machine);
  ASSERT_TRUE(out.result.clean()) << report::finding_text(out.result.findings.front());
  EXPECT_LT(worst_error(dense(a, pairs), to_doubles(b), c.k, out.outputs[0]), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SparseProducts,
                         ::testing::Values(SparseCase{}, SparseCase{.n = 256, .k = 256, .swizzle = 128},
                                           SparseCase{.n = 64, .dtype = pl::bf16},
                                           SparseCase{.k = 256, .dtype = pl::e4m3, .swizzle = 128},
                                           SparseCase{.n = 32, .dtype = pl::e5m2, .b_swizzle = 128},
                                           SparseCase{.dtype = pl::s8, .acc = pl::s32}));

// --- copies
// --------------------------------------------------------------------------------------------------

// Elements that share a byte arrive in GMEM as they left it: whole arrays and slices, tiled and not.
TEST(NarrowElements, AreCopied) {
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const Ref& in, const Ref& out, plgpu::Scratch& s) {
        plgpu::copy_gmem_to_smem(in.at(pl::ds(8, 16), pl::ds(256, 256)), s["tiled"], s.barrier("full"));
        plgpu::barrier_wait(s.barrier("full"));
        plgpu::copy_smem_to_gmem(s["tiled"], out.at(pl::ds(0, 16), pl::ds(0, 256)));
        plgpu::copy_gmem_to_smem(in.at(pl::ds(0, 16), pl::ds(32, 64)), s["plain"], s.barrier("full"));
        plgpu::barrier_wait(s.barrier("full"));
        plgpu::copy_smem_to_gmem(s["plain"], out.at(pl::ds(16, 16), pl::ds(64, 64)));
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::e2m1, {32, 512}}},
       .out_type = {pl::e2m1, {32, 256}},
       .scratch_types = {{"tiled", operand({16, 256}, pl::e2m1)},
                         {"plain", plgpu::SMEM({16, 64}, pl::e2m1)},
                         {"full", plgpu::Barrier()}}});
  const Array in = filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 7});
  sim::Machine machine(*isa::find_arch("h200"));
  const SimOutcome out = run(kernel, {in}, machine);
  ASSERT_TRUE(out.result.clean());
  for (int64_t i = 0; i < 16; ++i) {
    for (int64_t j = 0; j < 256; ++j)
      ASSERT_EQ(bits_at(out.outputs[0], i * 256 + j), bits_at(in, (8 + i) * 512 + 256 + j)) << i << " " << j;
    for (int64_t j = 0; j < 64; ++j)
      ASSERT_EQ(bits_at(out.outputs[0], (16 + i) * 256 + 64 + j), bits_at(in, i * 512 + 32 + j)) << i << j;
  }
}

TEST(TensorCopies, AMatrixComesToTensorMemory) {
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const Ref& in, const Ref& out, plgpu::Scratch& s) {
        plgpu::copy_gmem_to_smem(in, s["x"], s.barrier("full"));
        plgpu::barrier_wait(s.barrier("full"));
        plgpu::async_copy_smem_to_tmem(s["x"], s["t"]);
        plgpu::tcgen05_commit_arrive(s.barrier("copied"));
        plgpu::barrier_wait(s.barrier("copied"));
        out.store(plgpu::async_load_tmem(s["t"]));
      },
      {.in_types = {{pl::f32, {128, 64}}},
       .out_type = {pl::f32, {128, 64}},
       .scratch_types = {{"x", operand({128, 64}, pl::f32)},
                         {"t", plgpu::TMEM({128, 64}, pl::f32)},
                         {"full", plgpu::Barrier()},
                         {"copied", plgpu::Barrier({.orders_tensor_core = true})}},
       .arch = &b200()});
  const Array in = filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 9});
  sim::Machine machine(b200());
  const SimOutcome out = run(kernel, {in}, machine);
  ASSERT_TRUE(out.result.clean());
  EXPECT_EQ(out.outputs[0].bytes, in.bytes);
}

TEST(TensorCoreArrays, ScalesLieInTiles) {
  Array scales({pl::u8, {160, 8}});
  for (int64_t i = 0; i < scales.size(); ++i) set_value(scales, i, static_cast<double>(i * 37 % 251 + 1));
  const Array tiles = tile_scales(scales);
  EXPECT_EQ(tiles.type.shape, (pl::Shape{2, 2, 32, 16}));
  // Row 70 is in quarter 2, lane 6; block 5 is the second of the second four.
  EXPECT_EQ(value_at(tiles, (0 * 2 + 1) * 512 + 6 * 16 + 2 * 4 + 1), value_at(scales, 70 * 8 + 5));
  EXPECT_EQ(value_at(tiles, (1 * 2 + 0) * 512 + 31 * 16 + 3), value_at(scales, 159 * 8 + 3));
  EXPECT_EQ(value_at(tiles, (1 * 2 + 0) * 512 + 4), 0);  // row 160 is padding
}

}  // namespace
}  // namespace palladion::test_scales
