// Gathers and scatters of rows by TMA, against a loop on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "frontend/plgpu.h"
#include "sim/check/checker.h"
#include "tests/kernels/run_kernel.h"
#include "tests/support/toolkit.h"
#include "verify/arrays/arrays.h"
#include "verify/launch/runner.h"

namespace palladion::test::picked_rows {
namespace {

using kernels::test::expect_assembles;
using kernels::test::run_clean;
using plgpu::Layout;
using plgpu::Ref;
using ::testing::HasSubstr;

struct Picked {
  const char* name;
  pl::DType dtype;
  int64_t rows, columns;  // of the matrix
  int64_t picked, first, width;
  int64_t swizzle;  // 0: no tiles
  bool one_lane = false;
};
void PrintTo(const Picked& p, std::ostream* os) { *os << p.name; }

Layout layout_of(const Picked& p) { return p.one_lane ? Layout::TMA_INDICES_4 : Layout::TMA_INDICES; }

plgpu::Transforms transforms_of(const Picked& p) {
  if (p.swizzle == 0) return {};
  return {plgpu::TilingTransform({8, p.swizzle / pl::bytes(p.dtype)}), plgpu::SwizzleTransform(p.swizzle)};
}

// Twice, so that the slot is filled again: out = matrix[numbers, first : first + width], then the same with
// the numbers in the other half of `numbers`.
plgpu::Kernel gather(const Picked& p) {
  return plgpu::kernel(
      [&](const Ref& matrix, const Ref& numbers, const Ref& out, plgpu::Scratch& s) {
        pl::fori_loop(0, 2, [&](pl::Index round) {
          const plgpu::Array rows = plgpu::load(numbers.at(round), {.layout = layout_of(p)});
          plgpu::copy_gmem_to_smem(matrix.at(rows, pl::ds(p.first, p.width)), s["x"], s.barrier("b"));
          plgpu::barrier_wait(s.barrier("b"));
          plgpu::copy_smem_to_gmem(s["x"], out.at(round));
          plgpu::wait_smem_to_gmem(0);
        });
      },
      {.in_types = {{p.dtype, {p.rows, p.columns}}, {pl::s32, {2, p.picked}}},
       .out_type = {p.dtype, {2, p.picked, p.width}},
       .scratch_types = {{"x", plgpu::SMEM({p.picked, p.width}, p.dtype, {.transforms = transforms_of(p)})},
                         {"b", plgpu::Barrier()}},
       .arch = isa::find_arch("b200")});
}

// out[numbers] = in
plgpu::Kernel scatter(const Picked& p) {
  return plgpu::kernel(
      [&](const Ref& in, const Ref& numbers, const Ref& out, plgpu::Scratch& s) {
        plgpu::copy_gmem_to_smem(in, s["x"], s.barrier("b"));
        plgpu::barrier_wait(s.barrier("b"));
        const plgpu::Array rows = plgpu::load(numbers, {.layout = layout_of(p)});
        plgpu::copy_smem_to_gmem(s["x"], out.at(rows, pl::ds(p.first, p.width)));
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{p.dtype, {p.picked, p.width}}, {pl::s32, {p.picked}}},
       .out_type = {p.dtype, {p.rows, p.columns}},
       .scratch_types = {{"x", plgpu::SMEM({p.picked, p.width}, p.dtype, {.transforms = transforms_of(p)})},
                         {"b", plgpu::Barrier()}},
       .arch = isa::find_arch("b200")});
}

class PickedRows : public ::testing::TestWithParam<Picked> {};

TEST_P(PickedRows, AreGathered) {
  const Picked& p = GetParam();
  const plgpu::Kernel kernel = gather(p);
  std::vector<Array> in = {filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 1})};
  std::vector<double> numbers;  // the last one is no row
  for (int64_t i = 0; i < 2 * p.picked; ++i)
    numbers.push_back(i == p.picked - 1 ? static_cast<double>(p.rows) : static_cast<double>(i * 7 % p.rows));
  in.push_back(from_doubles(kernel.launch.inputs[1], numbers));
  for (const char* schedule : {"functional", "latest", "earliest", "seeded:3"}) {
    const SimOutcome out = run_clean(kernel, in, schedule);
    for (int64_t i = 0; i < 2 * p.picked; ++i)
      for (int64_t j = 0; j < p.width; ++j) {
        const auto row = static_cast<int64_t>(numbers[static_cast<size_t>(i)]);
        const double wanted = row < p.rows ? value_at(in[0], row * p.columns + p.first + j) : 0;
        ASSERT_EQ(value_at(out.outputs[0], i * p.width + j), wanted) << i << ", " << j << " " << schedule;
      }
  }
  expect_assembles(kernel);
}

TEST_P(PickedRows, AreScattered) {
  const Picked& p = GetParam();
  const plgpu::Kernel kernel = scatter(p);
  std::vector<Array> in = {filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 1})};
  std::vector<double> numbers;  // different rows, and one that the matrix has not
  for (int64_t i = 0; i < p.picked; ++i) numbers.push_back(static_cast<double>(p.rows - i));
  in.push_back(from_doubles(kernel.launch.inputs[1], numbers));
  for (const char* schedule : {"functional", "latest", "earliest", "seeded:3"}) {
    const SimOutcome out = run_clean(kernel, in, schedule);
    for (int64_t row = 0; row < p.rows; ++row)
      for (int64_t j = 0; j < p.columns; ++j) {
        const double got = value_at(out.outputs[0], row * p.columns + j);
        const int64_t i = p.rows - row, column = j - p.first;
        if (i < p.picked && column >= 0 && column < p.width)
          ASSERT_EQ(got, value_at(in[0], i * p.width + column)) << row << ", " << j << " " << schedule;
        else
          ASSERT_TRUE(std::isnan(got)) << row << ", " << j << " " << schedule;  // as outputs start
      }
  }
  expect_assembles(kernel);
}

INSTANTIATE_TEST_SUITE_P(Tma, PickedRows,
                         ::testing::Values(Picked{"plain", pl::f32, 40, 64, 16, 16, 32, 0},
                                           Picked{"swizzled", pl::f16, 100, 256, 32, 64, 128, 128},
                                           Picked{"narrow_swizzle", pl::bf16, 70, 128, 48, 0, 128, 64},
                                           Picked{"one_lane", pl::f16, 50, 64, 4, 0, 64, 0, true},
                                           Picked{"one_lane_swizzled", pl::f32, 50, 64, 16, 32, 32, 128,
                                                  true}),
                         [](const auto& param) { return std::string(param.param.name); });

// --- what is refused
// ----------------------------------------------------------------------------------------
std::string refused(
    const std::function<void(const Ref& matrix, const Ref& numbers, plgpu::Scratch& s)>& record,
    const char* chip = "b200") {
  try {
    plgpu::kernel([&](const Ref& matrix, const Ref& numbers, const Ref&,
                      plgpu::Scratch& s) { record(matrix, numbers, s); },
                  {.in_types = {{pl::f16, {64, 128}}, {pl::s32, {16}}},
                   .out_type = {pl::f32, {128}},
                   .scratch_types = {{"x", plgpu::SMEM({16, 128}, pl::f16)},
                                     {"tall", plgpu::SMEM({32, 128}, pl::f16)},
                                     {"narrow", plgpu::SMEM({16, 8}, pl::f16)},
                                     {"b", plgpu::Barrier()}},
                   .arch = isa::find_arch(chip)});
  } catch (const isa::Error& e) {
    return e.diagnostics().front().message;
  }
  return "no Error";
}

TEST(PickedRows, MisusesAreNamed) {
  const auto rows = [](const Ref& numbers) { return plgpu::load(numbers, {.layout = Layout::TMA_INDICES}); };
  EXPECT_THAT(refused([&](const Ref& m, const Ref& n, plgpu::Scratch&) { m.at(rows(n)); }, "h200"),
              HasSubstr("h200 has no TMA gathers"));
  EXPECT_THAT(refused([&](const Ref& m, const Ref&, plgpu::Scratch&) {
                m.at(plgpu::broadcasted_iota(pl::s32, {128}, 0));
              }),
              HasSubstr("of layout WG_STRIDED"));
  EXPECT_THAT(refused([&](const Ref& m, const Ref& n, plgpu::Scratch&) { m.at(rows(n).astype(pl::f32)); }),
              HasSubstr("rows of a matrix are picked by an array f32[16]"));
  EXPECT_THAT(refused([&](const Ref& m, const Ref& n, plgpu::Scratch&) { m.at(pl::ds(0, 32)).at(rows(n)); }),
              HasSubstr("has not all rows"));
  EXPECT_THAT(refused([&](const Ref& m, const Ref& n, plgpu::Scratch&) { m.at(rows(n), 3); }),
              HasSubstr("the columns are a slice"));
  EXPECT_THAT(refused([&](const Ref&, const Ref& n, plgpu::Scratch& s) { s["x"].at(rows(n)); }),
              HasSubstr("those of a matrix in GMEM"));
  EXPECT_THAT(refused([&](const Ref& m, const Ref& n, plgpu::Scratch& s) {
                plgpu::copy_gmem_to_smem(m.at(rows(n)), s["tall"], s.barrier("b"));
              }),
              HasSubstr("16 rows of"));
  EXPECT_THAT(refused([&](const Ref& m, const Ref& n, plgpu::Scratch& s) {
                plgpu::copy_gmem_to_smem(m.at(rows(n), pl::ds(0, 8)), s["narrow"], s.barrier("b"));
              }),
              HasSubstr("they must be a multiple of 128"));
}

}  // namespace
}  // namespace palladion::test::picked_rows
