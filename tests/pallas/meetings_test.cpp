// Copies that could complete a phase which a late warp has yet to see: the warps meet before, unless they
// have.
#include "isa/text/print.h"
#include "report/text/finding_text.h"
#include "tests/pallas/judge.h"

namespace palladion::test {
namespace {

using plgpu::Ref;
using plgpu::Scratch;

constexpr int64_t length = 256;

plgpu::KernelOptions options_for(bool auto_barriers = true, int threads = 1) {
  plgpu::KernelOptions o{
      .in_types = {{pl::s32, {8, length}}},
      .out_type = {pl::s32, {length}},
      .scratch_types = {
          {"x", plgpu::SMEM({2, length}, pl::s32)}, {"full", plgpu::Barrier()}, {"empty", plgpu::Barrier()}}};
  o.compiler_params.unsafe_no_auto_barriers = !auto_barriers;
  if (threads > 1) o.num_threads = threads, o.thread_name = "wg";
  return o;
}

void fetch(const Ref& in, const pl::Scalar& row, Scratch& s) {
  plgpu::copy_gmem_to_smem(in.at(row), s["x"].at(0), s.barrier("full"));
}

int meetings(const plgpu::Kernel& kernel) {
  const std::string text = isa::print(kernel.module);
  int n = 0;
  for (size_t at = text.find("bar.sync"); at != std::string::npos; at = text.find("bar.sync", at + 1)) ++n;
  return n;
}

void expect_safe_under_every_schedule(const plgpu::Kernel& kernel) {
  const std::vector<Array> inputs = {filled({pl::s32, {8, length}}, {.kind = Fill::Kind::iota})};
  const auto report = explore(kernel, inputs);
  EXPECT_TRUE(report.all_schedules) << report.verdict;
  for (const sim::Finding& f : report.findings) ADD_FAILURE() << report::finding_text(f);
  const Judged judged = judge(kernel, inputs);
  EXPECT_TRUE(judged.races.empty() && judged.other.empty()) << judged.text;
}

TEST(Meetings, CopyWaitCopyWait) {
  for (const bool auto_barriers : {true, false}) {
    const auto k = plgpu::kernel(
        [](Ref in, Ref, Scratch& s) {
          for (int row = 0; row < 4; ++row) {
            fetch(in, row, s);
            plgpu::barrier_wait(s.barrier("full"));
          }
        },
        options_for(auto_barriers));
    EXPECT_EQ(meetings(k), 1 + 3);  // the prologue's, and one before every copy but the first
    expect_safe_under_every_schedule(k);
  }
}

TEST(Meetings, CopyWaitInALoop) {
  const auto k = plgpu::kernel(
      [](Ref in, Ref, Scratch& s) {
        pl::fori_loop(0, 4, [&](const pl::Scalar& i) {
          fetch(in, i, s);
          plgpu::barrier_wait(s.barrier("full"));
        });
      },
      options_for());
  EXPECT_EQ(meetings(k), 1 + 1);  // jumps back to the loop's head pass it as well
  expect_safe_under_every_schedule(k);
}

TEST(Meetings, NoneWhereTheWarpsHaveMet) {
  const auto k = plgpu::kernel(
      [](Ref in, Ref out, Scratch& s) {
        fetch(in, 0, s);
        pl::fori_loop(0, 4, [&](const pl::Scalar& i) {
          plgpu::barrier_wait(s.barrier("full"));
          const plgpu::Array row = s["x"].at(0).load();
          plgpu::commit_smem();
          pl::when(i < 3, [&] { fetch(in, i + 1, s); });
          out.store(row);
        });
      },
      options_for());
  EXPECT_EQ(meetings(k), 1 + 1 + 2);  // the prologue's, commit_smem's, those around the store
  expect_safe_under_every_schedule(k);
}

// A condition is looked at once, however often it is combined with itself, and however long the chain is.
TEST(Meetings, AConditionOfManyParts) {
  auto options = options_for();
  options.grid = {2};
  const auto meetings_of = [&](int parts) {
    return meetings(plgpu::kernel(
        [parts](Ref in, Ref, Scratch& s) {
          pl::Scalar c = pl::program_id(0) < 1;
          for (int i = 0; i < parts; ++i) c = c && c;
          pl::when(c, [&] { fetch(in, 0, s); });
          plgpu::barrier_wait(s.barrier("full"));
        },
        options));
  };
  EXPECT_EQ(meetings_of(60), meetings_of(0));
  EXPECT_EQ(meetings_of(20'000), meetings_of(0));
}

// A warp may still read what another warp's copy will overwrite.
TEST(Meetings, BeforeACopyAfterAnAccess) {
  const auto body = [](Ref in, Ref out, Scratch& s) {
    fetch(in, 0, s);
    plgpu::barrier_wait(s.barrier("full"));
    const plgpu::Array row = s["x"].at(0).load();
    plgpu::copy_gmem_to_smem(in.at(1), s["x"].at(1), s.barrier("empty"));
    plgpu::barrier_wait(s.barrier("empty"));
    out.store(row);
  };
  EXPECT_EQ(
      meetings(plgpu::kernel(body, options_for(true))) - meetings(plgpu::kernel(body, options_for(false))),
      1 + 2);  // that before the second copy, and those around the store
}

// What one warp of a producer copies lets the consumer give the slot back: a warp that still waits for it
// would miss the phase. No wait of the consumer's, on a path that the producer cannot take, counts.
TEST(Meetings, BeforeTheCopiesOfAProducer) {
  const auto body = [](Ref in, Ref out, Scratch& s) {
    const pl::Scalar wg = pl::axis_index("wg");
    pl::when(wg == 1, [&] {
      pl::fori_loop(0, 4, [&](const pl::Scalar&) {
        plgpu::barrier_wait(s.barrier("full"));
        out.store(s["x"].at(0).load());
        plgpu::commit_smem();
        plgpu::barrier_arrive(s.barrier("empty"));
      });
    });
    pl::when(wg == 0, [&] {
      pl::fori_loop(0, 4, [&](const pl::Scalar& i) {
        pl::when(i > 0, [&] { plgpu::barrier_wait(s.barrier("empty")); });
        fetch(in, i, s);
      });
      plgpu::barrier_wait(s.barrier("empty"));
    });
  };
  const auto k = plgpu::kernel(body, options_for(true, 2));
  EXPECT_EQ(meetings(k), 1 + 1 + 2 + 1);  // the prologue's, the producer's, around the store, commit_smem's
  expect_safe_under_every_schedule(k);
}

// A thread whose own warps arrive at what they wait for is not passed: the phase needs each of them.
TEST(Meetings, NoneWhereTheWarpsThemselvesArrive) {
  auto options = options_for();
  options.scratch_types.push_back({"other", plgpu::Barrier()});
  const auto k = plgpu::kernel(
      [](Ref in, Ref, Scratch& s) {
        for (int row = 0; row < 2; ++row) {
          plgpu::barrier_arrive(s.barrier("empty"));
          plgpu::barrier_wait(s.barrier("empty"));
          plgpu::copy_gmem_to_smem(in.at(row), s["x"].at(row), s.barrier(row == 0 ? "full" : "other"));
        }
        plgpu::barrier_wait(s.barrier("full"));
        plgpu::barrier_wait(s.barrier("other"));
      },
      options);
  EXPECT_EQ(meetings(k), 1);  // the prologue's
  expect_safe_under_every_schedule(k);
}

}  // namespace
}  // namespace palladion::test
