// Orders between threads, copies and products: commit_smem, barriers of a queue, barriers of a cluster.
#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Scratch;
using Values = std::vector<double>;

KernelSpec commit_before_copy() {
  return {.name = "ref_commit_before_copy",
          .doc = "commit_smem between a store to SMEM and the copy that takes it out",
          .sizes = {{"rows", 2, "rows, at most 256"}, {"n", 128, "elements of a row, at most 256"}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y, Scratch& s) {
                      s["smem"].store(x.load() + 1);
                      plgpu::commit_smem();
                      plgpu::copy_smem_to_gmem(s["smem"], y);
                      plgpu::wait_smem_to_gmem(0);
                    },
                    {.in_types = rows(c),
                     .out_type = rows(c),
                     .scratch_types = {{"smem", plgpu::SMEM(rows(c).shape, pl::f32)}},
                     .name = "ref_commit_before_copy"});
              },
          .make_inputs = random_arrays({rows}),
          .reference = elementwise([](const Values& v) { return v[0] + 1; })};
}

// The other direction: what was read must be in registers before a copy overwrites it.
KernelSpec commit_before_reuse() {
  return {.name = "ref_commit_before_reuse",
          .doc = "commit_smem between a load from SMEM and the copy that overwrites it",
          .sizes = {{"rows", 2, "rows, at most 256"}, {"n", 128, "elements of a row, at most 256"}},
          .inputs = {"x", "y"},
          .outputs = {"difference"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y, const Ref& out, Scratch& s) {
                      const BarrierRef barrier = s.barrier("barrier");
                      plgpu::copy_gmem_to_smem(x, s["smem"], barrier);
                      plgpu::barrier_wait(barrier);
                      const plgpu::Array first = s["smem"].load();
                      plgpu::commit_smem();
                      plgpu::copy_gmem_to_smem(y, s["smem"], barrier);
                      plgpu::barrier_wait(barrier);
                      out.store(first - s["smem"].load());
                    },
                    {.in_types = {rows(c), rows(c)},
                     .out_type = rows(c),
                     .scratch_types = {{"smem", plgpu::SMEM(rows(c).shape, pl::f32)},
                                       {"barrier", plgpu::Barrier()}},
                     .name = "ref_commit_before_reuse"});
              },
          .make_inputs = random_arrays({rows, rows}),
          .reference = elementwise([](const Values& v) { return v[0] - v[1]; })};
}

KernelSpec commit_before_wgmma() {
  const auto types = [](const Choice& c) {
    return std::vector{pl::ShapeDtype{pl::f16, {64, c.size("k")}},
                       pl::ShapeDtype{pl::f16, {c.size("k"), c.size("n")}}};
  };
  return {.name = "ref_commit_before_wgmma",
          .doc = "commit_smem between stores to SMEM and the product that reads them",
          .sizes = {{"n", 64, "columns, a multiple of 64"}, {"k", 128, "depth, a multiple of 64"}},
          .inputs = {"a", "b"},
          .outputs = {"d"},
          .build =
              [=](const Choice& c) {
                const plgpu::AllocationOptions tiled{
                    .transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
                const auto in = types(c);
                return plgpu::kernel(
                    [=](const Ref& a, const Ref& b, const Ref& d, Scratch& s) {
                      s["a"].store(a.load(plgpu::Layout::WGMMA));
                      s["b"].store(b.load(plgpu::Layout::WGMMA));
                      plgpu::commit_smem();
                      d.store(pl::run_scoped(
                          [&](const Ref& acc) {
                            plgpu::wgmma(acc, s["a"], s["b"]);
                            return acc.load();
                          },
                          plgpu::ACC({64, c.size("n")})));
                    },
                    {.in_types = in,
                     .out_type = {pl::f32, {64, c.size("n")}},
                     .scratch_types = {{"a", plgpu::SMEM(in[0].shape, pl::f16, tiled)},
                                       {"b", plgpu::SMEM(in[1].shape, pl::f16, tiled)}},
                     .name = "ref_commit_before_wgmma"});
              },
          .make_inputs = random_inputs(types),
          .reference =
              [](const Choice&, const std::vector<Array>& in) {
                return std::vector{matmul_reference(in[0], false, in[1], false, nullptr, pl::f32)};
              },
          .tolerance = [](const Choice& c) { return matmul_tolerance(pl::f16, pl::f32, c.size("k")); }};
}

// Thread 0 fills a queue of slots, thread 1 empties it; each signals the other through a barrier for each
// slot.
struct Queue {
  bool copies;  // option 2: slots are filled by asynchronous copies
  int64_t steps, slots;
  Ref x, y, queue;
  BarrierRef produced, consumed;

  void produce() const {
    pl::fori_loop(0, steps, [&](const Scalar& i) {
      const Scalar slot = i % slots;
      pl::when(i >= slots, [&] { plgpu::barrier_wait(consumed.at(slot)); });
      if (copies) {
        plgpu::copy_gmem_to_smem(x.at(i), queue.at(slot), produced.at(slot));
      } else {
        queue.at(slot).store(x.at(i).load() * 2);
        plgpu::barrier_arrive(produced.at(slot));
      }
    });
    // Every completion of a barrier is awaited.
    pl::fori_loop(std::max<int64_t>(0, steps - slots), steps,
                  [&](const Scalar& i) { plgpu::barrier_wait(consumed.at(i % slots)); });
  }
  void consume() const {
    pl::fori_loop(0, steps, [&](const Scalar& i) {
      const Scalar slot = i % slots;
      plgpu::barrier_wait(produced.at(slot));
      y.at(i).store(queue.at(slot).load() + 1);
      if (copies) plgpu::commit_smem();  // read before the next copy writes
      plgpu::barrier_arrive(consumed.at(slot));
    });
  }
};

KernelSpec queue() {
  return {
      .name = "ref_queue",
      .doc = "A producer and a consumer thread with a queue of slots in SMEM, filled by stores or by copies",
      .sizes = {{"rows", 8, "steps"}, {"n", 128, "elements of a step"}},
      .settings = {{"fill", "store", "how a slot is filled", {"store", "copy"}},
                   {"slots", "3", "of the queue", {}}},
      .inputs = {"x"},
      .outputs = {"y"},
      .build =
          [](const Choice& c) {
            const int64_t slots = c.number("slots");
            Rules("ref_queue").require(slots > 0, "slots must be at least 1");
            return plgpu::kernel(
                [=](const Ref& x, const Ref& y, Scratch& s) {
                  const Queue q{c.word("fill") == "copy", c.size("rows"),       slots, x, y, s["queue"],
                                s.barrier("produced"),    s.barrier("consumed")};
                  const Scalar thread = pl::axis_index("thread");
                  pl::when(thread == 0, [&] { q.produce(); });
                  pl::when(thread == 1, [&] { q.consume(); });
                },
                {.in_types = rows(c),
                 .out_type = rows(c),
                 .scratch_types = {{"queue", plgpu::SMEM({slots, c.size("n")}, pl::f32)},
                                   {"produced", plgpu::Barrier({.num_barriers = {slots}})},
                                   {"consumed", plgpu::Barrier({.num_barriers = {slots}})}},
                 .num_threads = 2,
                 .thread_name = "thread",
                 .name = "ref_queue"});
          },
      .make_inputs = random_arrays({rows}),
      .reference =
          [](const Choice& c, const std::vector<Array>& in) {
            const double factor = c.word("fill") == "copy" ? 1 : 2;
            return std::vector{map_elements(in, [=](const Values& v) { return factor * v[0] + 1; })};
          }};
}

// No CTA starts the second multicast before both are done with what the first one brought.
KernelSpec cluster_barrier() {
  return {.name = "ref_cluster_barrier",
          .doc = "A ClusterBarrier before multicast copies overwrite SMEM that all CTAs read",
          .sizes = {{"n", 128, "elements"}},
          .settings = {{"cluster", "2", "CTAs", {"2", "4"}}},
          .inputs = {"x", "x2"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                const int64_t cluster = c.number("cluster");
                return plgpu::kernel(
                    [](const Ref& x, const Ref& x2, const Ref& y, Scratch& s) {
                      const Ref smem = s["smem"], mine = y.at(pl::axis_index("cluster"));
                      const BarrierRef local = s.barrier("local"), all = s.barrier("all");
                      const plgpu::CopyInOptions together{.collective_axes = {"cluster"}};
                      plgpu::copy_gmem_to_smem(x, smem, local, together);
                      plgpu::barrier_wait(local);
                      mine.at(0).store(smem.load());
                      plgpu::commit_smem();
                      plgpu::barrier_arrive(all);
                      plgpu::barrier_wait(all);
                      plgpu::copy_gmem_to_smem(x2, smem, local, together);
                      plgpu::barrier_wait(local);
                      mine.at(1).store(smem.load());
                    },
                    {.in_types = {row(c), row(c)},
                     .out_type = {pl::f32, {cluster, 2, c.size("n")}},
                     .scratch_types = {{"smem", plgpu::SMEM({c.size("n")}, pl::f32)},
                                       {"local", plgpu::Barrier()},
                                       {"all", plgpu::ClusterBarrier({.collective_axes = {"cluster"}})}},
                     .cluster = {cluster},
                     .cluster_names = {"cluster"},
                     .name = "ref_cluster_barrier"});
              },
          .make_inputs = random_arrays({row, row}),
          .reference =
              [](const Choice& c, const std::vector<Array>& in) {
                Values both = to_doubles(in[0]), y;
                const Values second = to_doubles(in[1]);
                both.insert(both.end(), second.begin(), second.end());
                for (int64_t i = 0; i < c.number("cluster"); ++i) y.insert(y.end(), both.begin(), both.end());
                return std::vector{from_doubles({pl::f32, {c.number("cluster"), 2, c.size("n")}}, y)};
              }};
}

}  // namespace

std::vector<KernelSpec> synchronisation() {
  return {commit_before_copy(), commit_before_reuse(), commit_before_wgmma(), queue(), cluster_barrier()};
}

}  // namespace palladion::kernels::reference_examples
