// mbarriers initialised with a wrong count of arrivals: mistakes that the frontend does not detect.
#include "frontend/plgpu.h"
#include "kernels/zoo/recorded.h"

namespace palladion::kernels::zoo {
namespace {

using plgpu::Ref;
using plgpu::Scratch;

Array rounds_of_256() { return filled({pl::f32, {4, 256}}, {.kind = Fill::Kind::iota}); }

// What the threads for which `mine` holds do in each of 4 rounds.
template <class Body>
void in_rounds(const pl::Scalar& mine, Body body) {
  pl::when(mine, [&] { pl::fori_loop(0, 4, body); });
}

Pair count_too_large() {
  return recorded_pair(
      {.name = "mbarrier-count-too-large",
       .entry = "MB-01",
       .title = "an mbarrier expects two arrivals, one thread arrives",
       .code = "PLD4101",
       .on_device = OnDevice::hangs,
       .record =
           [](bool broken) {
             return plgpu::kernel(
                 [](const Ref& a, const Ref& o, Scratch& s) {
                   const pl::Index t = pl::axis_index("t");
                   in_rounds(t == 0, [&](const pl::Index& i) {
                     s["x"].store(a.at(i).load() * 2);
                     plgpu::barrier_arrive(s.barrier("filled"));
                     plgpu::barrier_wait(s.barrier("drained"));  // @1
                   });
                   in_rounds(t == 1, [&](const pl::Index& i) {
                     plgpu::barrier_wait(s.barrier("filled"));  // @2
                     o.at(i).store(s["x"].load());
                     plgpu::barrier_arrive(s.barrier("drained"));
                   });
                 },
                 {.in_types = {{pl::f32, {4, 256}}},
                  .out_type = {pl::f32, {4, 256}},
                  .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)},
                                    {"filled", plgpu::Barrier()},
                                    {"drained", plgpu::Barrier({.num_arrivals = broken ? 2 : 1})}},
                  .num_threads = 2,
                  .thread_name = "t",
                  .name = "count_too_large"});
           },
       .inputs = [] { return std::vector{rounds_of_256()}; }});
}

Pair count_too_small() {
  return recorded_pair(
      {.name = "mbarrier-count-too-small",
       .entry = "MB-02",
       .title = "two threads free a buffer, its mbarrier expects one: the next copy overwrites what the "
                "other still reads",
       .code = "PLD4102",
       .on_device = OnDevice::hangs,
       .record =
           [](bool broken) {
             return plgpu::kernel(
                 [](const Ref& a, const Ref& o, Scratch& s) {
                   const pl::Index t = pl::axis_index("t");
                   in_rounds(t == 2, [&](const pl::Index& i) {
                     plgpu::copy_gmem_to_smem(a.at(i), s["x"], s.barrier("full"));
                     plgpu::barrier_wait(s.barrier("empty"));
                   });
                   in_rounds(t < 2, [&](const pl::Index& i) {
                     plgpu::barrier_wait(s.barrier("full"));
                     o.at(i, t).store(s["x"].load() + t.astype(pl::f32));
                     plgpu::commit_smem();
                     plgpu::barrier_arrive(s.barrier("empty"));  // @1
                   });
                 },
                 {.in_types = {{pl::f32, {4, 256}}},
                  .out_type = {pl::f32, {4, 2, 256}},
                  .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)},
                                    {"full", plgpu::Barrier()},
                                    {"empty", plgpu::Barrier({.num_arrivals = broken ? 1 : 2})}},
                  .num_threads = 3,
                  .thread_name = "t",
                  .name = "count_too_small"});
           },
       .inputs = [] { return std::vector{rounds_of_256()}; }});
}

}  // namespace

std::vector<Pair> recorded_mbarrier_pairs() { return {count_too_large(), count_too_small()}; }

}  // namespace palladion::kernels::zoo
