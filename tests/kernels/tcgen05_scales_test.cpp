// Products with scales of blocks and with a sparse operand, in the machine against sums of doubles; what is
// refused, and the line that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "arrays/tensor_core.h"
#include "frontend/plgpu.h"
#include "run/runner.h"

namespace palladion {
namespace {

using plgpu::Ref;
using plgpu::TMEMLayout;
using ::testing::HasSubstr;

const isa::ArchSpec& b200() { return *isa::find_arch("b200"); }

plgpu::SmemType operand(pl::Shape shape, pl::DType dtype, int64_t swizzle = 128) {
  plgpu::Transforms tiles = {plgpu::TilingTransform({8, swizzle * 8 / pl::bits(dtype)}),
                             plgpu::SwizzleTransform(swizzle)};
  return plgpu::SMEM(std::move(shape), dtype, {.transforms = std::move(tiles)});
}

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

plgpu::Kernel product(const ScaledCase& c) {
  const bool pair = c.ctas == 2;
  const int64_t blocks = c.k / c.block, rows = m * c.ctas;
  const std::string axis = pair ? "cluster" : "";
  const auto tmem = [&](int64_t of) {
    return plgpu::TMEM({of, blocks}, c.scale, {.collective = pair, .layout = TMEMLayout::SCALES_LAYOUT});
  };
  plgpu::KernelOptions o;
  o.in_types = {{c.a, {rows, c.stored_k()}},
                {c.b, {c.n, c.k}},
                {c.scale, tiled_scale_shape(rows, blocks)},
                {c.scale, tiled_scale_shape(c.n, blocks)}};
  const int64_t padded_n = pl::align_to(c.n, 128);
  pl::Shape a_scale_shape = tiled_scale_shape(m, blocks), b_scale_shape = tiled_scale_shape(c.n, blocks);
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
    o.in_types.push_back({pl::u2, tiled_metadata_shape(rows, c.k)});
    o.scratch_types.push_back({"meta_smem", plgpu::SMEM(tiled_metadata_shape(m, c.k), pl::u2)});
    o.scratch_types.push_back(
        {"meta", plgpu::TMEM({m, c.k / 2}, pl::u2,
                             {.collective = pair, .layout = TMEMLayout::SPARSE_METADATA_LAYOUT})});
  }
  o.out_type = {pl::f32, {rows, c.n}};
  if (pair) {
    o.cluster = {2};
    o.cluster_names = {"cluster"};
  }
  o.arch = &b200();
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
    x.back().at(pl::ds(place * m, m)).store(plgpu::async_load_tmem(s["acc"]));
  };
  return plgpu::record_kernel(body, o, std::source_location::current());
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
    ASSERT_TRUE(out.result.clean()) << sim::render(out.result.findings.front());
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

}  // namespace
}  // namespace palladion
