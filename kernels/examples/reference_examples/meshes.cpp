// The threads of a kernel: CTAs of a grid, several Pallas threads in one, clusters; what they share.
#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Scratch;
using Values = std::vector<double>;

constexpr int64_t block = 128;

KernelSpec increment() {
  return {.name = "ref_increment",
          .doc = "plgpu::kernel: every CTA adds 1 to its block",
          .sizes = {{"n", 256, "elements, a multiple of 128"}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                Rules("ref_increment").require(c.size("n") % block == 0, "n must be a multiple of 128");
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y) {
                      const auto mine = pl::ds(pl::axis_index("x") * block, block);
                      y.at(mine).store(x.at(mine).load() + 1);
                    },
                    {.in_types = row(c),
                     .out_type = row(c),
                     .grid = {c.size("n") / block},
                     .grid_names = {"x"},
                     .name = "ref_increment"});
              },
          .make_inputs = random_arrays({row}),
          .reference = elementwise([](const Values& v) { return v[0] + 1; })};
}

// The same body over a mesh: in JAX, references made by pl.run_state; here, arguments.
KernelSpec core_map() {
  return {.name = "ref_core_map",
          .doc = "pl::core_map over a plgpu::Mesh: every CTA adds 1 to its block",
          .sizes = {{"n", 256, "elements, a multiple of 128"}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                Rules("ref_core_map").require(c.size("n") % block == 0, "n must be a multiple of 128");
                const plgpu::Mesh mesh{
                    .grid = {c.size("n") / block}, .grid_names = {"x"}, .kernel_name = "ref_core_map"};
                return pl::core_map(mesh,
                                    [](const Ref& x, const Ref& y) {
                                      const auto mine = pl::ds(pl::axis_index("x") * block, block);
                                      y.at(mine).store(x.at(mine).load() + 1);
                                    },
                                    {.in_types = row(c), .out_type = row(c)});
              },
          .make_inputs = random_arrays({row}),
          .reference = elementwise([](const Values& v) { return v[0] + 1; })};
}

// Two warps of one thread with a ring of rows between them.
KernelSpec warp_copies() {
  return {.name = "ref_warp_map",
          .doc = "plgpu::warp_map: one warp fetches rows, another writes them out in reverse order",
          .sizes = {{"rows", 8, "rows"}, {"n", 128, "elements of a row, a multiple of 4"}},
          .settings = {{"slots", "2", "rows in SMEM", {"1", "2", "4"}}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                const int64_t count = c.size("rows"), slots = c.number("slots");
                Rules("ref_warp_map").require(c.size("n") % 4 == 0, "n must be a multiple of 4");
                return plgpu::kernel(
                    [=](const Ref& x, const Ref& y, Scratch& s) {
                      const auto& full = s.barrier("full");
                      const auto& empty = s.barrier("empty");
                      plgpu::warp_map([&](pl::Scalar warp) {
                        pl::when(warp == 0, [&] {
                          pl::fori_loop(0, count, [&](pl::Index i) {
                            const pl::Scalar slot = i % slots;
                            pl::when(i >= slots, [&] { plgpu::barrier_wait(empty.at(slot)); });
                            plgpu::copy_gmem_to_smem(x.at(i), s["row"].at(slot), full.at(slot));
                          });
                        });
                        pl::when(warp == 1, [&] {
                          pl::fori_loop(0, count, [&](pl::Index i) {
                            const pl::Scalar slot = i % slots;
                            plgpu::barrier_wait(full.at(slot));
                            plgpu::copy_smem_to_gmem(s["row"].at(slot), y.at(count - 1 - i));
                            plgpu::wait_smem_to_gmem(0);
                            pl::when(i < count - slots, [&] { plgpu::barrier_arrive(empty.at(slot)); });
                          });
                        });
                      });
                    },
                    {.in_types = rows(c),
                     .out_type = rows(c),
                     .scratch_types = {{"row", plgpu::SMEM({slots, c.size("n")}, pl::f32)},
                                       {"full", plgpu::Barrier({.num_barriers = {slots}})},
                                       {"empty", plgpu::Barrier({.num_barriers = {slots}})}},
                     .name = "ref_warp_map"});
              },
          .make_inputs = random_arrays({rows}),
          .reference =
              [](const Choice& c, const std::vector<Array>& in) {
                const Values x = to_doubles(in[0]);
                const auto n = static_cast<ptrdiff_t>(c.size("n"));
                Values y;
                for (auto row = c.size("rows"); row-- > 0;)
                  y.insert(y.end(), x.begin() + row * n, x.begin() + (row + 1) * n);
                return std::vector{from_doubles(in[0].type, y)};
              }};
}

KernelSpec two_threads() {
  return {.name = "ref_two_threads",
          .doc = "Two Pallas threads of a CTA hand data over in SMEM, with a barrier",
          .sizes = {{"n", 128, "elements"}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y, Scratch& s) {
                      const pl::Scalar thread = pl::axis_index("pallas_thread");
                      pl::when(thread == 0, [&] {
                        s["smem"].store(x.load() + 1);
                        plgpu::barrier_arrive(s.barrier("barrier"));
                      });
                      pl::when(thread == 1, [&] {
                        plgpu::barrier_wait(s.barrier("barrier"));
                        y.store(s["smem"].load() + 1);
                      });
                    },
                    {.in_types = row(c),
                     .out_type = row(c),
                     .scratch_types = {{"smem", plgpu::SMEM({c.size("n")}, pl::f32)},
                                       {"barrier", plgpu::Barrier()}},
                     .num_threads = 2,
                     .thread_name = "pallas_thread",
                     .name = "ref_two_threads"});
              },
          .make_inputs = random_arrays({row}),
          .reference = elementwise([](const Values& v) { return double(float(v[0] + 1) + 1.0f); })};
}

// Threads write halves of one allocation that both of them make together, and read each other's.
KernelSpec scoped_collective() {
  return {.name = "ref_scoped_collective",
          .doc = "run_scoped that all Pallas threads enter: they get the same SMEM and the same barrier",
          .sizes = {{"n", 128, "elements of a half"}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                const int64_t n = c.size("n");
                const pl::ShapeDtype halves{pl::f32, {2, n}};
                return plgpu::kernel(
                    [=](const Ref& x, const Ref& y) {
                      const pl::Scalar me = pl::axis_index("wg");
                      pl::run_scoped(
                          pl::collective("wg"),
                          [&](const Ref& smem, const plgpu::BarrierRef& both) {
                            smem.at(me).store(x.at(me).load() * 2);
                            plgpu::barrier_arrive(both);
                            plgpu::barrier_wait(both);
                            y.at(me).store(smem.at(1 - me).load());
                          },
                          plgpu::SMEM({2, n}, pl::f32), plgpu::Barrier({.num_arrivals = 2}));
                    },
                    {.in_types = halves,
                     .out_type = halves,
                     .num_threads = 2,
                     .thread_name = "wg",
                     .name = "ref_scoped_collective"});
              },
          .make_inputs =
              random_arrays({[](const Choice& c) { return pl::ShapeDtype{pl::f32, {2, c.size("n")}}; }}),
          .reference =
              [](const Choice&, const std::vector<Array>& in) {
                const Values x = to_doubles(in[0]);
                Values y(x.size());
                for (size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[(i + x.size() / 2) % x.size()];
                return std::vector{from_doubles(in[0].type, y)};
              }};
}

KernelSpec multicast() {
  return {.name = "ref_multicast",
          .doc = "The CTAs of a cluster fetch an array together; each writes it out",
          .sizes = {{"n", 128, "elements"}},
          .settings = {{"cluster", "2", "CTAs", {"2", "4", "8"}}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                const int64_t cluster = c.number("cluster");
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y, Scratch& s) {
                      plgpu::copy_gmem_to_smem(x, s["smem"], s.barrier("barrier"),
                                               {.collective_axes = {"cluster"}});
                      plgpu::barrier_wait(s.barrier("barrier"));
                      plgpu::copy_smem_to_gmem(s["smem"], y.at(pl::axis_index("cluster")));
                      plgpu::wait_smem_to_gmem(0);
                    },
                    {.in_types = row(c),
                     .out_type = {pl::f32, {cluster, c.size("n")}},
                     .scratch_types = {{"smem", plgpu::SMEM({c.size("n")}, pl::f32)},
                                       {"barrier", plgpu::Barrier()}},
                     .cluster = {cluster},
                     .cluster_names = {"cluster"},
                     .name = "ref_multicast"});
              },
          .make_inputs = random_arrays({row}),
          .reference =
              [](const Choice& c, const std::vector<Array>& in) {
                const Values x = to_doubles(in[0]);
                Values y(x.size() * size_t(c.number("cluster")));
                for (size_t i = 0; i < y.size(); ++i) y[i] = x[i % x.size()];
                return std::vector{from_doubles({pl::f32, {c.number("cluster"), c.size("n")}}, y)};
              }};
}

KernelSpec global_semaphore() {
  return {.name = "ref_global_semaphore",
          .doc = "get_global: CTA 1 writes once CTA 0 has signalled",
          .sizes = {{"n", 128, "elements"}},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& y) {
                      const Ref semaphore = pl::get_global(plgpu::SemaphoreType::REGULAR());
                      const pl::Scalar id = pl::axis_index("x");
                      pl::when(id == 0, [&] { pl::semaphore_signal(semaphore); });
                      pl::when(id == 1, [&] {
                        pl::semaphore_wait(semaphore);
                        y.store(plgpu::full(y.shape(), 1, pl::f32));
                      });
                    },
                    {.out_type = row(c), .grid = {2}, .grid_names = {"x"}, .name = "ref_global_semaphore"});
              },
          .make_inputs = [](const Choice&, uint64_t) { return std::vector<Array>{}; },
          .reference =
              [](const Choice& c, const std::vector<Array>&) {
                return std::vector{filled(row(c), {.kind = Fill::Kind::constant, .value = 1})};
              }};
}

// The example exchanges between two devices; here the neighbours are two CTAs of one.
KernelSpec exchange_shards() {
  const auto shards = [](const Choice& c) { return pl::ShapeDtype{pl::f32, {2, c.size("n")}}; };
  return {
      .name = "ref_exchange_shards",
      .doc = "Two CTAs write into each other's shard and signal; each reads its own after the wait",
      .sizes = {{"n", 128, "elements of a shard"}},
      .settings = {{"decrement", "1", "1: the wait takes its signal off", {"0", "1"}}},
      .inputs = {"x"},
      .outputs = {"y", "seen"},
      .build =
          [=](const Choice& c) {
            const bool decrement = c.flag("decrement");
            return plgpu::kernel(
                [=](const Ref& x, const Ref& y, const Ref& seen, Scratch& s) {
                  const pl::Scalar me = pl::axis_index("x"), other = 1 - me;
                  y.at(other).store(x.at(me).load());
                  plgpu::semaphore_signal(s["done"].at(other), 1, {.memory_scope = "gpu"});
                  plgpu::semaphore_wait(s["done"].at(me), 1, {.decrement = decrement, .memory_scope = "gpu"});
                  seen.at(me).store(y.at(me).load() + 1);
                },
                {.in_types = shards(c),
                 .out_type = {shards(c), shards(c)},
                 .scratch_types = {{"done", plgpu::SemaphoreType::REGULAR({2})}},
                 .grid = {2},
                 .grid_names = {"x"},
                 .name = "ref_exchange_shards"});
          },
      .make_inputs = random_arrays({shards}),
      .reference =
          [](const Choice&, const std::vector<Array>& in) {
            const Values x = to_doubles(in[0]);
            Values y(x.size());
            for (size_t i = 0; i < y.size(); ++i) y[i] = x[(i + x.size() / 2) % x.size()];
            const Array swapped = from_doubles(in[0].type, y);
            return std::vector{swapped, map_elements({swapped}, [](const Values& v) { return v[0] + 1; })};
          }};
}

// The grid (m, n) cut into (m / band, n, band): neighbours in time share rows and columns, which keeps L2
// warm. The output shows the order: the number of the CTA that wrote each tile.
KernelSpec grid_bands() {
  return {.name = "ref_grid_bands",
          .doc = "A grid cut into bands for L2: which CTA works on which tile",
          .sizes = {{"m", 8, "tiles down"}, {"n", 4, "tiles across"}},
          .settings = {{"band", "4", "tiles down that run together; divides m", {}}},
          .outputs = {"order"},
          .build =
              [](const Choice& c) {
                const int64_t m = c.size("m"), n = c.size("n"), band = c.number("band");
                Rules("ref_grid_bands").require(band > 0 && m % band == 0, "band must divide m");
                return plgpu::kernel(
                    [=](const Ref& order) {
                      const pl::Scalar outer = pl::axis_index("m"), column = pl::axis_index("n"),
                                       inner = pl::axis_index("mt");
                      const pl::Scalar cta = (outer * n + column) * band + inner;
                      order.at(outer * band + inner, column).store(plgpu::full({block}, cta, pl::s32));
                    },
                    {.out_type = {pl::s32, {m, n, block}},
                     .grid = {m / band, n, band},
                     .grid_names = {"m", "n", "mt"},
                     .name = "ref_grid_bands"});
              },
          .make_inputs = [](const Choice&, uint64_t) { return std::vector<Array>{}; },
          .reference =
              [](const Choice& c, const std::vector<Array>&) {
                const int64_t m = c.size("m"), n = c.size("n"), band = c.number("band");
                Values order;
                for (int64_t i = 0; i < m; ++i)
                  for (int64_t j = 0; j < n; ++j)
                    order.insert(order.end(), block, double(((i / band) * n + j) * band + i % band));
                return std::vector{from_doubles({pl::s32, {m, n, block}}, order)};
              }};
}

}  // namespace

std::vector<KernelSpec> meshes() {
  return {increment(), core_map(),         warp_copies(),     two_threads(), scoped_collective(),
          multicast(), global_semaphore(), exchange_shards(), grid_bands()};
}

}  // namespace palladion::kernels::reference_examples
