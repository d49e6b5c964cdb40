#include "kernels/hopper/matmul_split_k.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/frame/specs.h"
#include "kernels/hopper/matmul.h"

namespace palladion::kernels {
namespace {

constexpr int64_t strip = 32;  // columns added at a time: what is there needs registers too

void check(const MatmulSplitK& c) {
  const Rules rules("matmul_split_k");
  rules.multiple("m", c.m, "tile_m", c.tile_m);
  rules.require(
      c.tile_n > 0 && c.tile_n % strip == 0 && c.n % c.tile_n == 0,
      fmt::format("n={} must be a multiple of tile_n={}, which must be one of {}", c.n, c.tile_n, strip));
  rules.at_least("splits", c.splits, 1);
  rules.require(c.tile_k > 0 && c.k % (c.tile_k * c.splits) == 0,
                fmt::format("k={} must be a multiple of tile_k={} times splits={}", c.k, c.tile_k, c.splits));
  rules.at_least("stages", c.stages, 2);
  rules.at_least("ctas", c.ctas, 1);
}

// A unit of work: one tile of D, one part of the depth.
struct Unit {
  Scalar tile, split, row, column, first_k;
};

struct Body {
  const MatmulSplitK& c;
  Ref a, b, out, a_smem, b_smem, turns;
  BarrierRef loaded;

  int64_t rows() const { return c.m / c.tile_m; }
  int64_t columns() const { return c.n / c.tile_n; }
  int64_t tiles() const { return rows() * columns(); }
  int64_t units() const { return tiles() * c.splits; }
  int64_t ctas() const { return std::min(c.ctas, units()); }
  int64_t steps() const { return c.k / c.tile_k / c.splits; }

  // All tiles of one split before any of the next: the unit that another waits for has begun before it.
  Unit unit(const Scalar& number) const {
    const Scalar tile = number % tiles(), split = number / tiles();
    return {tile, split, tile / columns() * c.tile_m, tile % columns() * c.tile_n,
            split * (steps() * c.tile_k)};
  }

  void fetch(const Unit& u, const Scalar& step) const {
    const Scalar slot = step % c.stages, k0 = u.first_k + step * c.tile_k;
    plgpu::copy_gmem_to_smem(a.at(ds(u.row, c.tile_m), ds(k0, c.tile_k)), a_smem.at(slot), loaded.at(slot));
    plgpu::copy_gmem_to_smem(b.at(ds(k0, c.tile_k), ds(u.column, c.tile_n)), b_smem.at(slot),
                             loaded.at(slot));
  }

  plgpu::Array multiply(const Unit& u) const {
    return pl::run_scoped(
        [&](const Ref& acc) {
          pl::fori_loop(0, steps(), [&](const Scalar& step) {
            const Scalar slot = step % c.stages, next = step + (c.stages - 1);
            plgpu::barrier_wait(loaded.at(slot));
            plgpu::wgmma(acc, a_smem.at(slot), b_smem.at(slot));
            // The product before this one is done, and with it the slot that it read.
            pl::when(step > 0 && next < steps(), [&] {
              plgpu::commit_smem();
              fetch(u, next);
            });
          });
          return acc.load();
        },
        plgpu::ACC({c.tile_m, c.tile_n}, pl::f32));
  }

  // The first split's part is D's tile, the others are added to it.
  void add(const Unit& u, const plgpu::Array& part) const {
    const auto for_each_strip = [&](const auto& body) {
      for (int64_t n = 0; n < c.tile_n; n += strip)
        body(out.at(ds(u.row, c.tile_m), ds(u.column + n, strip)),
             plgpu::slice(part, {0, n}, {c.tile_m, n + strip}));
    };
    pl::cond(
        u.split == 0, [&] { for_each_strip([](const Ref& d, const plgpu::Array& p) { d.store(p); }); },
        [&] {
          for_each_strip([](const Ref& d, const plgpu::Array& p) { d.store(d.load(p.layout()) + p); });
        });
  }

  void work(const Unit& u) const {
    const plgpu::Array part = plgpu::profile_scope("main loop", [&] { return multiply(u); });
    const Ref turn = turns.at(u.tile);
    plgpu::profile_scope(
        "turn", [&] { plgpu::semaphore_wait(turn, u.split, {.decrement = false, .memory_scope = "gpu"}); });
    plgpu::profile_scope("add", [&] { add(u, part); });
    plgpu::semaphore_signal(turn, 1, {.memory_scope = "gpu"});
  }

  void run() const {
    const Scalar first = pl::axis_index("cta");
    pl::fori_loop(0, (units() - 1 - first) / ctas() + 1, [&](const Scalar& i) {
      const Unit u = unit(first + i * ctas());
      plgpu::commit_smem();  // all four warps are done with the slots of the last unit
      for (int64_t s = 0; s < std::min(c.stages, steps()); ++s) fetch(u, s);
      work(u);
    });
  }
};

MatmulSplitK config_of(const Choice& choice) {
  MatmulSplitK c = matmul_config<MatmulSplitK>(choice);
  c.splits = choice.number("splits");
  c.ctas = choice.number("ctas");
  c.profile = choice.flag("profile");
  return c;
}

}  // namespace

plgpu::Kernel matmul_split_k(const MatmulSplitK& c) {
  check(c);
  const Body sizes{
      .c = c, .a = {}, .b = {}, .out = {}, .a_smem = {}, .b_smem = {}, .turns = {}, .loaded = {}};
  plgpu::KernelOptions o = grid_of("matmul_split_k", sizes.ctas());
  o.in_types = matmul_inputs(c);
  o.out_type = plgpu::Types(pl::f32, {c.m, c.n});
  o.scratch_types = matmul_scratch(c, {"turns", plgpu::SemaphoreType::REGULAR({sizes.tiles()})});
  // Entry and exit of three scopes a unit.
  if (c.profile) o.compiler_params.profile_space = 6 * ((sizes.units() - 1) / sizes.ctas() + 1);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        Body{c, a, b, out, s["a"], s["b"], s["turns"], s.barrier("loaded")}.run();
      },
      o);
}

KernelSpec matmul_split_k_spec() {
  KernelSpec spec = matmul_spec(
      "matmul_split_k", "D = A B with the depth split: partial tiles are added in order, a semaphore a tile",
      512, 8192);
  spec.settings = {{"dtype", "f16", "of A and B", {"f16", "bf16"}},
                   {"splits", "8", "parts of the depth", {}},
                   {"tile_m", "128", "rows of a tile", {}},
                   {"tile_n", "128", "columns of a tile", {}},
                   {"tile_k", "64", "depth of a stage", {}},
                   {"stages", "4", "tiles of A and B on their way", {}},
                   ctas_setting("ctas", 1, "of the persistent grid: as many as run at once"),
                   profile_setting()};
  spec.build = [](const Choice& choice) { return matmul_split_k(config_of(choice)); };
  return spec;
}

}  // namespace palladion::kernels
