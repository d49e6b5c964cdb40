#include "kernels/hopper/matmul_ws.h"

#include <fmt/format.h>

#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/hopper/matmul.h"

namespace palladion::kernels {
namespace {

constexpr int compute_groups = 2;
constexpr int64_t epilogue_m = 64;

void check(const MatmulWs& c) {
  const Rules rules("matmul_ws");
  for (const auto& [name, value] : {std::pair{"tile_m", c.tile_m},
                                    {"tile_n", c.tile_n},
                                    {"tile_k", c.tile_k},
                                    {"epilogue_n", c.epilogue_n},
                                    {"grid_width", c.grid_width},
                                    {"sms", c.sm_count}})
    rules.require(value > 0, fmt::format("{}={} must be positive", name, value));
  rules.require(c.sm_count >= (c.cluster_axis.empty() ? 1 : 2), "sms must leave room for one cluster");
  rules.require(c.tile_m % 128 == 0,
                fmt::format("tile_m={} must be a multiple of 128: two warpgroups of 64 rows each", c.tile_m));
  rules.require(c.tile_n % c.epilogue_n == 0,
                fmt::format("epilogue_n={} must divide tile_n={}", c.epilogue_n, c.tile_n));
  rules.require(c.cluster_axis.empty() || c.cluster_axis == "m" || c.cluster_axis == "n",
                fmt::format("cluster_axis={} must be m, n or empty", c.cluster_axis));
  const int64_t rows = c.tile_m * (c.cluster_axis == "m" ? 2 : 1),
                columns = c.tile_n * (c.cluster_axis == "n" ? 2 : 1);
  rules.require(c.m % rows == 0,
                fmt::format("m={} must be a multiple of {}: the rows of a cluster's tile", c.m, rows));
  rules.require(c.n % columns == 0,
                fmt::format("n={} must be a multiple of {}: the columns of a cluster's tile", c.n, columns));
  rules.multiple("k", c.k, "tile_k", c.tile_k);
  rules.at_least("stages", c.stages, 2);
  rules.require((c.dtype == pl::s8) == (c.out_dtype == pl::s32), "s8 products are summed and stored as s32");
}

// The parts of the kernel share this.
struct Body {
  const MatmulWs& c;
  Ref a, b, out;
  std::optional<Ref> addend;
  Ref a_smem, b_smem, out_smem;
  BarrierRef full, empty;

  int64_t k_steps() const { return c.k / c.tile_k; }
  int64_t cluster() const { return c.cluster_axis.empty() ? 1 : 2; }
  // Tiles of a cluster along m and n.
  int64_t rows() const { return c.m / (c.tile_m * (c.cluster_axis == "m" ? 2 : 1)); }
  int64_t columns() const { return c.n / (c.tile_n * (c.cluster_axis == "n" ? 2 : 1)); }
  int64_t clusters() const { return std::min(c.sm_count / cluster(), rows() * columns()); }

  void run() const;
  void produce() const;
  void drain() const;
  void fetch(const Scalar& m0, const Scalar& n0, const Scalar& ki, const Scalar& slot) const;
  void consume(const Scalar& group) const;
  plgpu::Array multiply(const Scalar& group, const Scalar& first_step) const;
  void store(const plgpu::Array& acc, const Scalar& group, const Scalar& m0, const Scalar& n0) const;

  // Calls body(local step, first row, first column) for each tile of this CTA.
  template <class F>
  void for_each_tile(F&& body) const {
    const Scalar first = pl::axis_index("sm");
    const Scalar tiles = (rows() * columns() - 1 - first) / clusters() + 1;
    pl::fori_loop(0, tiles, [&](const Scalar& i) {
      const auto [mi, ni] = plgpu::planar_snake(first + i * clusters(), {rows(), columns()}, 1, c.grid_width);
      const Scalar rank = cluster() == 1 ? Scalar(0) : pl::axis_index("cta");
      const Scalar row = c.cluster_axis == "m" ? mi * 2 + rank : mi;
      const Scalar column = c.cluster_axis == "n" ? ni * 2 + rank : ni;
      body(i, row * c.tile_m, column * c.tile_n);
    });
  }
};

void Body::fetch(const Scalar& m0, const Scalar& n0, const Scalar& ki, const Scalar& slot) const {
  const Scalar k0 = ki * c.tile_k;
  plgpu::CopyInOptions shared_by_cluster;
  shared_by_cluster.collective_axes = {"cta"};
  const plgpu::CopyInOptions own;
  const Ref b_tile =
      c.eight_bit() ? b.at(ds(n0, c.tile_n), ds(k0, c.tile_k)) : b.at(ds(k0, c.tile_k), ds(n0, c.tile_n));
  plgpu::copy_gmem_to_smem(a.at(ds(m0, c.tile_m), ds(k0, c.tile_k)), a_smem.at(slot), full.at(slot),
                           c.cluster_axis == "n" ? shared_by_cluster : own);
  plgpu::copy_gmem_to_smem(b_tile, b_smem.at(slot), full.at(slot),
                           c.cluster_axis == "m" ? shared_by_cluster : own);
}

void Body::produce() const {
  plgpu::profile_scope("prologue", [&] { plgpu::set_max_registers(40, "decrease"); });
  for_each_tile([&](const Scalar& i, const Scalar& m0, const Scalar& n0) {
    plgpu::profile_scope("main loop", [&] {
      pl::fori_loop(0, k_steps(), [&](const Scalar& ki) {
        const Scalar step = i * k_steps() + ki, slot = step % c.stages;
        pl::when(step >= c.stages, [&] { plgpu::barrier_wait(empty.at(slot)); });
        fetch(m0, n0, ki, slot);
      });
    });
  });
  plgpu::profile_scope("epilogue", [&] { drain(); });
}

void Body::drain() const {
  // Every completion is waited for: no copy may write to the shared memory of a CTA that has exited.
  const Scalar first = pl::axis_index("sm");
  const Scalar steps = ((rows() * columns() - 1 - first) / clusters() + 1) * k_steps();
  pl::fori_loop(0, c.stages, [&](const Scalar& s) {
    const Scalar step = steps + s;
    pl::when(step >= c.stages, [&] { plgpu::barrier_wait(empty.at(step % c.stages)); });
  });
}

plgpu::Array Body::multiply(const Scalar& group, const Scalar& first_step) const {
  const int64_t group_rows = c.tile_m / compute_groups;
  return pl::run_scoped(
      [&](const Ref& acc) {
        pl::fori_loop(0, k_steps(), [&](const Scalar& ki) {
          const Scalar step = first_step + ki, slot = step % c.stages;
          plgpu::barrier_wait(full.at(slot));
          const Ref b_tile = b_smem.at(slot);
          plgpu::wgmma(acc, a_smem.at(slot, ds(group * group_rows, group_rows)),
                       c.eight_bit() ? plgpu::transpose_ref(b_tile, {1, 0}) : b_tile);
          // The wgmma before this one is done, and with it the slot that it read.
          pl::when(ki > 0, [&] { plgpu::barrier_arrive(empty.at((step + (c.stages - 1)) % c.stages)); });
        });
        return acc.load();
      },
      plgpu::ACC({group_rows, c.tile_n}, c.acc_dtype()));
}

void Body::store(const plgpu::Array& acc, const Scalar& group, const Scalar& m0, const Scalar& n0) const {
  const int64_t group_rows = c.tile_m / compute_groups;
  int buffer = 0;
  for (int64_t r = 0; r < group_rows; r += epilogue_m) {
    for (int64_t n = 0; n < c.tile_n; n += c.epilogue_n, buffer ^= 1) {
      const Ref smem = out_smem.at(group, buffer);
      const Scalar row = m0 + group * group_rows + r, column = n0 + n;
      const Ref gmem = out.at(ds(row, epilogue_m), ds(column, c.epilogue_n));
      plgpu::Array tile = plgpu::slice(acc, {r, n}, {r + epilogue_m, n + c.epilogue_n});
      if (addend) {
        const plgpu::Array extra =
            addend->at(ds(row, epilogue_m), ds(column, c.epilogue_n)).load(plgpu::Layout::WGMMA);
        tile = tile + extra.astype(c.acc_dtype());
      }
      plgpu::wait_smem_to_gmem(1, true);
      smem.store(tile.astype(c.out_dtype));
      plgpu::commit_smem();
      plgpu::copy_smem_to_gmem(smem, gmem);
    }
  }
}

void Body::consume(const Scalar& group) const {
  plgpu::profile_scope("prologue", [&] { plgpu::set_max_registers(232, "increase"); });
  for_each_tile([&](const Scalar& i, const Scalar& m0, const Scalar& n0) {
    const plgpu::Array acc =
        plgpu::profile_scope("main loop", [&] { return multiply(group, i * k_steps()); });
    plgpu::barrier_arrive(empty.at((i * k_steps() + (k_steps() - 1)) % c.stages));
    plgpu::profile_scope("epilogue", [&] { store(acc, group, m0, n0); });
  });
  plgpu::profile_scope("last stores", [&] { plgpu::wait_smem_to_gmem(0); });
}

void Body::run() const {
  const Scalar group = pl::axis_index("wg");
  pl::when(group == compute_groups, [&] { produce(); });
  pl::when(group < compute_groups, [&] { consume(group); });
}

std::vector<pl::ShapeDtype> inputs_of(const MatmulWs& c) {
  std::vector<pl::ShapeDtype> types = {{c.dtype, {c.m, c.k}},
                                       {c.dtype, c.eight_bit() ? pl::Shape{c.n, c.k} : pl::Shape{c.k, c.n}}};
  if (c.add_c) types.push_back({c.out_dtype, {c.m, c.n}});
  return types;
}

plgpu::KernelOptions options_for(const MatmulWs& c) {
  const bool clustered = !c.cluster_axis.empty();
  const pl::Shape b_tile =
      c.eight_bit() ? pl::Shape{c.stages, c.tile_n, c.tile_k} : pl::Shape{c.stages, c.tile_k, c.tile_n};
  plgpu::KernelOptions o;
  o.in_types = inputs_of(c);
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scratch_types = {
      {"a_smem", tiled_smem({c.stages, c.tile_m, c.tile_k}, c.dtype)},
      {"b_smem", tiled_smem(b_tile, c.dtype)},
      {"out_smem", tiled_smem({compute_groups, 2, epilogue_m, c.epilogue_n}, c.out_dtype)},
      {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}})},
      {"empty", clustered ? plgpu::ClusterBarrier({.collective_axes = {"cta"},
                                                   .num_barriers = {c.stages},
                                                   .num_arrivals = compute_groups})
                          : plgpu::Barrier({.num_arrivals = compute_groups, .num_barriers = {c.stages}})}};
  const Body sizes{.c = c,
                   .a = {},
                   .b = {},
                   .out = {},
                   .addend = {},
                   .a_smem = {},
                   .b_smem = {},
                   .out_smem = {},
                   .full = {},
                   .empty = {}};
  o.grid = {sizes.clusters()};
  o.grid_names = {"sm"};
  if (clustered) {
    o.cluster = {2};
    o.cluster_names = {"cta"};
  }
  o.num_threads = compute_groups + 1;
  o.thread_name = "wg";
  o.name = "matmul_ws";
  // Entry and exit of two scopes a tile, and of three more.
  const int64_t tiles = (sizes.rows() * sizes.columns() - 1) / sizes.clusters() + 1;
  if (c.profile) o.compiler_params.profile_space = 4 * tiles + 6;
  return o;
}

MatmulWs config_of(const Choice& choice) {
  MatmulWs c = matmul_config<MatmulWs>(choice);
  if (choice.word("tile_k") == "auto") c.tile_k = c.eight_bit() ? 128 : 64;
  c.epilogue_n = choice.number("epilogue_n");
  c.cluster_axis = choice.word("cluster") == "none" ? "" : choice.word("cluster");
  c.grid_width = choice.number("grid_width");
  c.sm_count = choice.number("sms");
  c.add_c = choice.flag("add_c");
  c.profile = choice.flag("profile");
  return c;
}

std::vector<Array> reference(const Choice& choice, const std::vector<Array>& inputs) {
  const MatmulWs c = config_of(choice);
  return {matmul_reference(inputs[0], false, inputs[1], c.eight_bit(), c.add_c ? &inputs[2] : nullptr,
                           c.out_dtype)};
}

}  // namespace

KernelSpec matmul_ws_spec() {
  KernelSpec spec = matmul_spec(
      "matmul_ws", "D = A B (+ C), persistent and warp-specialised: TMA producer, two wgmma consumers");
  spec.settings = {{"dtype", "f16", "of A and B", {"f16", "bf16", "e4m3", "e5m2", "s8"}},
                   {"out_dtype", "f16", "of C and D; of s8 products s32", {"f16", "bf16", "s32"}},
                   {"tile_m", "256", "rows of a CTA's tile", {"128", "256"}},
                   {"tile_n", "128", "columns of a CTA's tile", {}},
                   {"tile_k", "auto", "depth of a stage: 64, for 8-bit types 128", {}},
                   {"stages", "4", "tiles of A and B on their way", {}},
                   {"epilogue_n", "64", "columns stored at a time", {}},
                   {"cluster", "none", "two CTAs share B (m) or A (n) by multicast", {"none", "m", "n"}},
                   {"grid_width", "8", "tiles of n in a band of the snake", {}},
                   ctas_setting("sms", 1, "CTAs of the persistent grid"),
                   {"add_c", "0", "1: a third input is added", {"0", "1"}},
                   profile_setting()};
  spec.inputs = {"a", "b", "c"};
  spec.build = [](const Choice& choice) { return matmul_ws(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    return normal_inputs(inputs_of(config_of(choice)), 3 * seed);
  };
  spec.reference = reference;
  spec.tolerance = [rounded = spec.tolerance](const Choice& choice) {
    return choice.dtype("dtype") == pl::s8 ? Tolerance{} : rounded(choice);
  };
  return spec;
}

plgpu::Kernel matmul_ws(const MatmulWs& c) {
  check(c);
  return plgpu::kernel(
      [&](const std::vector<Ref>& refs, plgpu::Scratch& s) {
        Body{.c = c,
             .a = refs[0],
             .b = refs[1],
             .out = refs.back(),
             .addend = c.add_c ? std::optional(refs[2]) : std::nullopt,
             .a_smem = s["a_smem"],
             .b_smem = s["b_smem"],
             .out_smem = s["out_smem"],
             .full = s.barrier("full"),
             .empty = s.barrier("empty")}
            .run();
      },
      options_for(c));
}

}  // namespace palladion::kernels
