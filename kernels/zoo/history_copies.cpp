// Bugs of copies and shared buffers that shipped in public projects, as their authors
// would write them here.
#include "frontend/plgpu.h"
#include "kernels/zoo/recorded.h"

namespace palladion::kernels::zoo {
namespace {

using pl::ds;
using plgpu::Ref;
using plgpu::Scratch;
using plgpu::SMEM;

constexpr int64_t tile = 256;

plgpu::KernelOptions options(const char* name, int64_t numbers, std::vector<plgpu::NamedScratch> scratch) {
  plgpu::KernelOptions o;
  o.in_types = {pl::f32, {numbers}};
  o.out_type = {pl::f32, {numbers}};
  o.scratch_types = std::move(scratch);
  o.name = name;
  return o;
}

std::function<std::vector<Array>()> counted(int64_t numbers) {
  return [numbers] { return std::vector<Array>{filled({pl::f32, {numbers}}, {.kind = Fill::Kind::iota})}; };
}

// jax/docs/pallas/gpu/reference.md warns of it; sglang #39124, FlashKDA #24 are this bug.
plgpu::Kernel store_without_commit(bool broken) {
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        const plgpu::Array doubled = in.load() * 2;
        s["staging"].store(doubled);  // @2
        if (!broken) plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(s["staging"], out);  // @1
        plgpu::wait_smem_to_gmem(0);
      },
      options("store_without_commit", tile, {{"staging", SMEM({tile}, pl::f32)}}));
}

// DeepEP #657, #660, #674.
plgpu::Kernel two_buffers(bool broken) {
  constexpr int64_t steps = 4;
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        pl::fori_loop(0, steps, [&](const pl::Scalar& i) {
          const Ref buffer = s["staging"].at(i % 2);
          const auto here = ds(i * tile, tile);
          plgpu::wait_smem_to_gmem(broken ? 2 : 1, true);
          buffer.store(in.at(here).load() + 1);  // @2
          plgpu::commit_smem();
          plgpu::copy_smem_to_gmem(buffer, out.at(here));  // @1
        });
        plgpu::wait_smem_to_gmem(0);
      },
      options("two_buffers", steps * tile, {{"staging", SMEM({2, tile}, pl::f32)}}));
}

// Dao-AILab/flash-attention #1344: the last tile of the output.
plgpu::Kernel epilogue(bool broken) {
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        s["staging"].store(in.load() * 2);
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(s["staging"], out);  // @1
        if (!broken) plgpu::wait_smem_to_gmem(0, true);
      },
      options("epilogue", tile, {{"staging", SMEM({tile}, pl::f32)}}));
}

// TransformerEngine #2695: the buffer is read, then fetched anew.
plgpu::Kernel refetch(bool broken) {
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        plgpu::copy_gmem_to_smem(in.at(ds(0, tile)), s["buffer"], s.barrier("full"));
        plgpu::barrier_wait(s.barrier("full"));
        const plgpu::Array first = s["buffer"].load();  // @2
        if (!broken) plgpu::commit_smem();
        plgpu::barrier_arrive(s.barrier("read"));
        plgpu::barrier_wait(s.barrier("read"));
        plgpu::copy_gmem_to_smem(in.at(ds(tile, tile)), s["buffer"], s.barrier("full"));  // @1
        plgpu::barrier_wait(s.barrier("full"));
        out.at(ds(0, tile)).store(first);
        out.at(ds(tile, tile)).store(first + s["buffer"].load());
      },
      options("refetch", 2 * tile,
              {{"buffer", SMEM({tile}, pl::f32)}, {"full", plgpu::Barrier()}, {"read", plgpu::Barrier()}}));
}

// jax-ml/jax c77a737990.
plgpu::Kernel accumulate(bool broken) {
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        if (!broken) s["sum"].store(plgpu::zeros({tile}, pl::f32));
        pl::fori_loop(0, 2, [&](const pl::Scalar& i) {
          const plgpu::Array sum = s["sum"].load();  // @1
          s["sum"].store(sum + in.at(ds(i * tile, tile)).load());
        });
        out.at(ds(0, tile)).store(s["sum"].load());
        out.at(ds(tile, tile)).store(s["sum"].load() * 2);
      },
      options("accumulate", 2 * tile, {{"sum", SMEM({tile}, pl::f32)}}));
}

// jax-ml/jax refuses outputs in SMEM with several compute warpgroups, because this is what they would do.
plgpu::Kernel one_output_tile(bool broken) {
  plgpu::KernelOptions o =
      options("one_output_tile", 2 * tile,
              {{"tile", SMEM({2, tile}, pl::f32)}, {"written", plgpu::Barrier({.num_arrivals = 2})}});
  o.num_threads = 2;
  o.thread_name = "wg";
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        const pl::Scalar wg = pl::axis_index("wg");
        const Ref mine = s["tile"].at(broken ? pl::Scalar(0) : wg);
        const plgpu::Array x = in.at(ds(wg * tile, tile)).load();
        mine.store(x * 2);  // @1
        plgpu::barrier_arrive(s.barrier("written"));
        plgpu::barrier_wait(s.barrier("written"));
        out.at(ds(wg * tile, tile)).store(mine.load());
      },
      o);
}

// Two buffers in the same bytes.
plgpu::Kernel union_reused(bool broken) {
  const plgpu::SmemType buffer = SMEM({tile}, pl::f32);
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        const Ref first = s.ref_union("shared")[0][0], second = s.ref_union("shared")[1][0];
        first.store(in.at(ds(0, tile)).load() + 1);
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(first, out.at(ds(0, tile)));  // @1
        if (!broken) plgpu::wait_smem_to_gmem(0, true);
        second.store(in.at(ds(tile, tile)).load() * 2);  // @2
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(second, out.at(ds(tile, tile)));
        plgpu::wait_smem_to_gmem(0);
      },
      options("union_reused", 2 * tile, {{"shared", plgpu::RefUnion({{buffer}, {buffer}})}}));
}

// tilelang #2613: the loop comes back to the buffer that the last wgmma still reads.
plgpu::Kernel loop_back(bool broken) {
  constexpr int64_t m = 64, n = 64, k = 64, steps = 2;
  const plgpu::Transforms swizzled = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)};
  plgpu::KernelOptions o;
  o.in_types = {{pl::f16, {m, steps * k}}, {pl::f16, {steps * k, n}}};
  o.out_type = {pl::f32, {m, n}};
  o.scratch_types = {{"a", SMEM({m, k}, pl::f16, {.transforms = swizzled})},
                     {"b", SMEM({k, n}, pl::f16, {.transforms = swizzled})},
                     {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {steps}})},
                     {"issued", plgpu::Barrier({.num_barriers = {steps}})}};
  o.name = "loop_back";
  return plgpu::kernel(
      [=](const Ref& a, const Ref& b, const Ref& out, Scratch& s) {
        const plgpu::Array sum = pl::run_scoped(
            [&](const Ref& acc) {
              for (int64_t i = 0; i < steps; ++i) {
                const auto here = ds(i * k, k);
                plgpu::copy_gmem_to_smem(a.at(pl::all, here), s["a"], s.barrier("full").at(i));  // @2
                plgpu::copy_gmem_to_smem(b.at(here), s["b"], s.barrier("full").at(i));           // @2
                plgpu::barrier_wait(s.barrier("full").at(i));
                plgpu::wgmma(acc, s["a"], s["b"]);  // @1
                if (!broken) plgpu::wgmma_wait(0);
                plgpu::barrier_arrive(s.barrier("issued").at(i));
                plgpu::barrier_wait(s.barrier("issued").at(i));
              }
              return acc.load();
            },
            plgpu::ACC({m, n}));
        out.store(sum);
      },
      o);
}

std::vector<Array> matrices() {
  return {filled({pl::f16, {64, 128}}, {.kind = Fill::Kind::randint, .seed = 1, .low = -4, .high = 5}),
          filled({pl::f16, {128, 64}}, {.kind = Fill::Kind::randint, .seed = 2, .low = -4, .high = 5})};
}

}  // namespace

std::vector<Pair> recorded_history_pairs() {
  return {
      recorded_pair({.name = "jax-store-without-commit-smem",
                     .entry = "TM-09/2",
                     .title = "commit_smem is missing between the stores and the copy",
                     .code = "PLD4309",
                     .record = store_without_commit,
                     .inputs = counted(tile)}),
      recorded_pair({.name = "deepep-wait-group-off-by-one",
                     .entry = "TM-12/2",
                     .title = "two buffers, and two copies are allowed to be on their way",
                     .code = "PLD4312",
                     .record = two_buffers,
                     .inputs = counted(4 * tile)}),
      recorded_pair({.name = "flash-attention-epilogue-not-awaited",
                     .entry = "TM-14/2",
                     .title = "the kernel ends with the copy of its last tile on the way",
                     .code = "PLD4314",
                     .severity = sim::FindingSeverity::strict,
                     .record = epilogue,
                     .inputs = counted(tile)}),
      recorded_pair({.name = "transformer-engine-refetch-without-fence",
                     .entry = "TM-08/2",
                     .title = "a buffer that threads have read is fetched anew without a proxy fence",
                     .code = "PLD4308",
                     .record = refetch,
                     .inputs = counted(2 * tile)}),
      recorded_pair({.name = "jax-sum-in-uninitialised-smem",
                     .entry = "UN-01/2",
                     .title = "a sum in shared memory starts with whatever is there",
                     .code = "PLD6101",
                     .record = accumulate,
                     .inputs = counted(2 * tile)}),
      recorded_pair({.name = "jax-one-output-tile-of-two-warpgroups",
                     .entry = "SM-03/2",
                     .title = "two warpgroups write their results to the same tile",
                     .code = "PLD4001",
                     .record = one_output_tile,
                     .inputs = counted(2 * tile)}),
      recorded_pair({.name = "smem-union-reused-while-copied",
                     .entry = "UN-05",
                     .title = "a union's second buffer is written while its first is still copied out",
                     .code = "PLD6105",
                     .record = union_reused,
                     .inputs = counted(2 * tile)}),
      recorded_pair({.name = "tilelang-loop-back-without-wgmma-wait",
                     .entry = "WG-06/2",
                     .title = "the next tiles are fetched into the buffers that the wgmma still reads",
                     .code = "PLD4406",
                     .record = loop_back,
                     .inputs = matrices}),
  };
}

}  // namespace palladion::kernels::zoo
