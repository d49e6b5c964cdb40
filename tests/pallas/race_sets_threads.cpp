// Two Pallas threads, or two warps of one; clusters.
#include <fmt/format.h>

#include "tests/pallas/race_sets.h"

namespace palladion::test {

using plgpu::Ref;
using plgpu::Scratch;

namespace {

void put(const Ref& ref, int32_t value) { ref.store(plgpu::full(ref.shape(), value, pl::s32)); }
void commit_when(bool yes) {
  if (yes) plgpu::commit_smem();
}

struct Pair {
  bool warps;
  // Warps have scalars alone, and copies move at least 16 bytes.
  pl::Shape shape() const { return warps ? pl::Shape{4} : one; }
  void put(const Ref& ref, int32_t value) const {
    if (!warps) return ref.store(plgpu::full(ref.shape(), value, pl::s32));
    for (int64_t i = 0; i < ref.shape(0); ++i) ref.at(i).store(value);
  }
  void copy(const Ref& from, const Ref& to) const {
    if (!warps) return to.store(from.load());
    for (int64_t i = 0; i < from.shape(0); ++i) to.at(i).store(from.at(i).load_scalar());
  }
  std::string name() const { return warps ? " warps" : " threads"; }
  void run(const std::function<void()>& first, const std::function<void()>& second) const {
    const auto both = [&](const pl::Scalar& index) {
      pl::when(index == 0, first);
      pl::when(index == 1, second);
    };
    warps ? plgpu::warp_map(both) : both(pl::axis_index("t"));
  }
  plgpu::KernelOptions options(int inputs, int outputs = 1) const {
    plgpu::KernelOptions o{.scratch_types = {{"smem", plgpu::SMEM(shape(), pl::s32)},
                                             {"thread", plgpu::Barrier()},
                                             {"copy", plgpu::Barrier()}},
                           .num_threads = warps ? 1 : 2,
                           .thread_name = "t"};
    o.in_types = std::vector<pl::ShapeDtype>(static_cast<size_t>(inputs), {pl::s32, shape()});
    o.out_type = std::vector<pl::ShapeDtype>(static_cast<size_t>(outputs), {pl::s32, shape()});
    return o;
  }
};
constexpr Pair pairs[] = {{false}, {true}};

// The copy is made by the thread that wrote to SMEM.
void add_own_copy(std::vector<RaceSet>& sets, const Pair& pair) {
  for (unsigned mask = 0; mask < 64; ++mask) {
    const auto body = [mask, pair](Ref in, Ref out, Scratch& s) {
      pair.run(
          [&] {
            commit_when(mask & 1);
            pair.put(s["smem"], 100);
            commit_when(mask & 2);
            plgpu::copy_gmem_to_smem(in, s["smem"], s.barrier("copy"));
            commit_when(mask & 4);
            plgpu::barrier_arrive(s.barrier("thread"));
          },
          [&] {
            commit_when(mask & 8);
            plgpu::barrier_wait(s.barrier("thread"));
            commit_when(mask & 16);
            plgpu::barrier_wait(s.barrier("copy"));
            commit_when(mask & 32);
            pair.copy(s["smem"], out);
          });
    };
    sets.push_back({"multi_thread_gmem_to_smem_copy" + pair.name() + " " + letters("abcdef", mask),
                    (mask & 2) != 0 ? Theirs::clean : Theirs::race,
                    [body, pair] { return plgpu::kernel(body, pair.options(1)); },
                    {filled_with(pair.shape(), 42)},
                    {{42}}});
  }
}

// The copy is made by the other thread.
void add_cross_copy(std::vector<RaceSet>& sets, const Pair& pair) {
  for (unsigned mask = 0; mask < 64; ++mask) {
    const auto body = [mask, pair](Ref in, Ref out, Scratch& s) {
      pair.run(
          [&] {
            commit_when(mask & 1);
            pair.put(s["smem"], 100);
            commit_when(mask & 2);
            plgpu::barrier_arrive(s.barrier("thread"));
          },
          [&] {
            commit_when(mask & 4);
            plgpu::barrier_wait(s.barrier("thread"));
            commit_when(mask & 8);
            plgpu::copy_gmem_to_smem(in, s["smem"], s.barrier("copy"));
            commit_when(mask & 16);
            plgpu::barrier_wait(s.barrier("copy"));
            commit_when(mask & 32);
            pair.copy(s["smem"], out);
          });
    };
    sets.push_back({"cross_thread_gmem_to_smem_copy" + pair.name() + " " + letters("abcdef", mask),
                    (mask & (2 | 8)) != 0 ? Theirs::clean : Theirs::race,
                    [body, pair] { return plgpu::kernel(body, pair.options(1)); },
                    {filled_with(pair.shape(), 42)},
                    {{42}}});
  }
}

// One thread's wait for its copies does not wait for those of the other.
void add_isolated_waits(std::vector<RaceSet>& sets, const Pair& pair) {
  for (const bool read : {false, true}) {
    const auto body = [read, pair](Ref out, Scratch& s) {
      pair.run(
          [&] {
            plgpu::copy_smem_to_gmem(s["smem"], out);
            plgpu::barrier_arrive(s.barrier("thread"));
            plgpu::barrier_wait(s.barrier("copy"));
            plgpu::wait_smem_to_gmem(0);
          },
          [&] {
            plgpu::barrier_wait(s.barrier("thread"));
            plgpu::wait_smem_to_gmem(0);
            pair.put(read ? s["smem"] : out, 43);
            plgpu::barrier_arrive(s.barrier("copy"));
          });
    };
    sets.push_back({fmt::format("wait_smem_to_gmem_isolated_per_thread{} read={:d}", pair.name(), read),
                    Theirs::race,
                    [body, pair] { return plgpu::kernel(body, pair.options(0)); },
                    {},
                    {}});
  }
}

void add_visible_copy(std::vector<RaceSet>& sets, const Pair& pair) {
  const auto body = [pair](Ref out, Ref gmem, Scratch& s) {
    pair.run(
        [&] {
          pair.put(s["smem"], 42);
          plgpu::commit_smem();
          plgpu::copy_smem_to_gmem(s["smem"], gmem);
          plgpu::wait_smem_to_gmem(0);
          plgpu::barrier_arrive(s.barrier("thread"));
        },
        [&] {
          plgpu::barrier_wait(s.barrier("thread"));
          pair.copy(gmem, out);
        });
  };
  sets.push_back({"properly_waited_smem_to_gmem_visible_across_threads" + pair.name(),
                  Theirs::not_run,
                  [body, pair] { return plgpu::kernel(body, pair.options(0, 2)); },
                  {},
                  {{42}}});
}

}  // namespace

void add_thread_sets(std::vector<RaceSet>& sets) {
  for (const Pair& pair : pairs) {
    add_own_copy(sets, pair);
    add_cross_copy(sets, pair);
    add_isolated_waits(sets, pair);
    add_visible_copy(sets, pair);
  }
}

// --- a cluster of two CTAs ----------------------------------------------------------------------------

void add_grid_sets(std::vector<RaceSet>& sets) {
  using Body = std::function<void(const std::vector<Ref>&, Scratch&)>;
  const auto add = [&](const std::string& name, Theirs theirs, Body body, int inputs = 0, int threads = 1,
                       bool reads_unwritten = false) {
    plgpu::KernelOptions o{
        .scratch_types = {{"smem", plgpu::SMEM(one, pl::s32)}, {"barrier", plgpu::Barrier()}},
        .cluster = {2},
        .cluster_names = {"c0"}};
    if (threads > 1) o.num_threads = threads, o.thread_name = "t";
    o.in_types = std::vector<pl::ShapeDtype>(static_cast<size_t>(inputs), {pl::s32, one});
    o.out_type = std::vector<pl::ShapeDtype>{{pl::s32, one}};
    std::vector<Array> in(static_cast<size_t>(inputs), filled_with(one, 42));
    sets.push_back({name, theirs, [body, o] { return plgpu::kernel(body, o); }, in, {}, reads_unwritten});
  };
  add("race_in_async_copy_smem_to_gmem_in_cluster", Theirs::race, [](const std::vector<Ref>& r, Scratch& s) {
    plgpu::copy_smem_to_gmem(s["smem"], r[0]);
    plgpu::wait_smem_to_gmem(0);
  });
  add(
      "no_race_in_async_copy_gmem_to_smem_in_cluster", Theirs::clean,
      [](const std::vector<Ref>& r, Scratch& s) {
        plgpu::copy_gmem_to_smem(r[0], s["smem"], s.barrier("barrier"));
        plgpu::barrier_wait(s.barrier("barrier"));
      },
      0, 1, true);
  add("race_in_sync_copy_smem_to_gmem_in_cluster", Theirs::race,
      [](const std::vector<Ref>& r, Scratch& s) { r[0].store(s["smem"].load()); });
  add(
      "no_race_in_sync_copy_gmem_to_smem_in_cluster", Theirs::clean,
      [](const std::vector<Ref>& r, Scratch& s) { s["smem"].store(r[0].load()); }, 1);
  add(
      "no_race_in_smem_across_clusters", Theirs::clean,
      [](const std::vector<Ref>&, Scratch& s) {
        for (int i = 0; i < 2; ++i)
          pl::when(pl::axis_index("c0") == i && pl::axis_index("t") == i, [&] { put(s["smem"], 42 + i); });
      },
      0, 2);
}

}  // namespace palladion::test
