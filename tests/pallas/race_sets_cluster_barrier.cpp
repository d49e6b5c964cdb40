// Barriers of a cluster, by which CTAs exchange data in GMEM. The barriers carry `orders_memory`: without it
// an arrival releases at CTA scope, as the PTX of Pallas does, and every such exchange is a race.
#include <fmt/format.h>

#include "tests/pallas/race_sets.h"

namespace palladion::test {

using pl::Scalar;
using plgpu::Indexer;
using plgpu::Ref;
using plgpu::Scratch;

namespace {

struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;
  int threads = 1;
  std::vector<std::string> collective;
  pl::Shape barriers = {1};

  pl::Shape sizes() const {
    pl::Shape out;
    for (const auto& [name, size] : axes) out.push_back(size);
    return out;
  }
  std::vector<Scalar> place() const {
    std::vector<Scalar> out;
    for (const auto& [name, size] : axes) out.push_back(pl::axis_index(name));
    return out;
  }
  plgpu::KernelOptions options(const std::vector<pl::Shape>& in, const pl::Shape& out) const {
    // Over no axis a barrier is one of the CTA, which ours calls by that name.
    const plgpu::BarrierType type = collective.empty()
                                        ? plgpu::Barrier({.num_arrivals = threads, .num_barriers = barriers})
                                        : plgpu::ClusterBarrier({.collective_axes = collective,
                                                                 .num_barriers = barriers,
                                                                 .num_arrivals = threads,
                                                                 .orders_memory = true});
    plgpu::KernelOptions o{.scratch_types = {{"barrier", type}}};
    std::vector<pl::ShapeDtype> types;
    for (const pl::Shape& shape : in) types.push_back({pl::s32, with_one(shape)});
    o.in_types = types;
    o.out_type = std::vector<pl::ShapeDtype>{{pl::s32, with_one(out)}};
    for (const auto& [name, size] : axes) o.cluster.push_back(size), o.cluster_names.push_back(name);
    if (threads > 1) o.num_threads = threads, o.thread_name = "t";
    return o;
  }
};

Ref indexed(const Ref& ref, const std::vector<Scalar>& index) {
  std::vector<Indexer> all(index.begin(), index.end());
  while (all.size() < ref.rank()) all.emplace_back(pl::All{});
  return ref.index(all);
}

void exchange(const plgpu::BarrierRef& barrier, bool waits) {
  plgpu::barrier_arrive(barrier);
  if (waits) plgpu::barrier_wait(barrier);
}

void add_peer(std::vector<RaceSet>& sets) {
  const Mesh mesh{{{"c", 2}}, 1, {"c"}};
  for (const bool race : {true, false}) {
    const auto body = [race](Ref in, Ref scratch, Ref out, Scratch& s) {
      const Scalar cid = pl::axis_index("c");
      scratch.at(cid).store(in.at(cid).load());
      exchange(s.barrier("barrier"), !race);
      out.at(cid).store(scratch.at(1 - cid).load());
    };
    sets.push_back({fmt::format("cluster_barrier_peer_communication_through_gmem race={:d}", race),
                    race ? Theirs::race : Theirs::clean,
                    [body, mesh] { return plgpu::kernel(body, mesh.options({{2}, {2}}, {2})); },
                    {counted({2}), filled_with(with_one({2}), 0)},
                    {{1, 0}}});
  }
}

void add_rounds(std::vector<RaceSet>& sets) {
  for (int64_t n = 1; n <= 8; ++n) {
    for (int64_t racing = -1; racing < n; ++racing) {
      const Mesh mesh{{{"c", n}}, 1, {"c"}, {n}};
      const auto body = [n, racing](Ref in, Ref scratch, Ref out, Scratch& s) {
        const Scalar cid = pl::axis_index("c");
        scratch.at(0, cid).store(in.at(cid).load());
        for (int64_t r = 0; r < n; ++r) {
          exchange(s.barrier("barrier").at(r), racing != r);
          scratch.at(r + 1, cid).store(scratch.at(r, (cid + 1) % n).load() + 1);
        }
        out.at(cid).store(scratch.at(n, cid).load());
      };
      std::vector<int32_t> wanted;
      for (int64_t i = 0; i < n; ++i) wanted.push_back(static_cast<int32_t>(i + n));
      sets.push_back({fmt::format("cluster_barrier_multiple_barriers n={} race_in_round={}", n,
                                  racing < 0 ? "none" : std::to_string(racing)),
                      racing >= 0 && n > 1 ? Theirs::race : Theirs::clean,
                      [body, mesh, n] { return plgpu::kernel(body, mesh.options({{n}, {n + 1, n}}, {n})); },
                      {counted({n}), filled_with(with_one({n + 1, n}), 0)},
                      wanted});
    }
  }
}

void add_diagonal(std::vector<RaceSet>& sets) {
  const Mesh mesh{{{"c0", 2}, {"c1", 2}}, 1, {"c0", "c1"}};
  const auto body = [mesh](Ref in, Ref scratch, Ref out, Scratch& s) {
    const std::vector<Scalar> here = mesh.place();
    indexed(scratch, here).store(indexed(in, here).load());
    exchange(s.barrier("barrier"), true);
    pl::cond(
        here[0] == 1 && here[1] == 1, [&] { indexed(out, here).store(scratch.at(0, 0).load()); },
        [&] { indexed(out, here).store(indexed(scratch, here).load()); });
  };
  sets.push_back({"cluster_barrier_differ_at_most_one_collective_axis",
                  Theirs::race,
                  [body, mesh] { return plgpu::kernel(body, mesh.options({{2, 2}, {2, 2}}, {2, 2})); },
                  {counted({2, 2}), filled_with(with_one({2, 2}), 0)},
                  {}});
}

// Each thread copies its element, and reads those of all CTAs along the collective axes.
plgpu::Kernel complex_kernel(const Mesh& mesh, bool race) {
  const auto body = [&](Ref in, Ref scratch, Ref out, Scratch& s) {
    std::vector<Scalar> here = mesh.place();
    here.push_back(mesh.threads > 1 ? pl::axis_index("t") : Scalar(0));
    indexed(scratch, here).store(indexed(in, here).load());
    exchange(s.barrier("barrier"), !race);
    std::vector<Indexer> slice;
    for (const auto& [name, size] : mesh.axes) {
      if (std::ranges::find(mesh.collective, name) != mesh.collective.end())
        slice.emplace_back(pl::All{});
      else
        slice.emplace_back(pl::axis_index(name));
    }
    slice.emplace_back(pl::All{});
    slice.emplace_back(pl::All{});
    indexed(out, here).store(scratch.index(slice).load());
  };
  pl::Shape all = mesh.sizes(), read;
  all.push_back(mesh.threads);
  for (const auto& [name, size] : mesh.axes)
    if (std::ranges::find(mesh.collective, name) != mesh.collective.end()) read.push_back(size);
  read.push_back(mesh.threads);
  pl::Shape out = all;
  out.insert(out.end(), read.begin(), read.end());
  return plgpu::kernel(body, mesh.options({all, all}, out));
}

void add_complex(std::vector<RaceSet>& sets) {
  const std::vector<std::pair<std::string, int64_t>> axes = {{"c0", 2}, {"c1", 3}, {"c2", 2}};
  for (const bool race : {true, false}) {
    for (size_t rank = 0; rank <= axes.size(); ++rank) {
      for (const int threads : {1, 2}) {
        for (unsigned subset = 0; subset < 1u << rank; ++subset) {
          Mesh mesh{{axes.begin(), axes.begin() + static_cast<int64_t>(rank)}, threads, {}};
          std::string names;
          for (size_t i = 0; i < rank; ++i) {
            if ((subset >> i & 1) == 0) continue;
            mesh.collective.push_back(axes[i].first);
            names += (names.empty() ? "" : ",") + axes[i].first;
          }
          if (race && mesh.collective.empty() && threads == 1) continue;  // Pallas' test skips these too
          pl::Shape all = mesh.sizes();
          all.push_back(threads);
          sets.push_back(
              {fmt::format("cluster_barrier_complex_mesh race={:d} axes={} threads={} collective={}", race,
                           rank, threads, names.empty() ? "none" : names),
               race || mesh.collective.size() > 1 ? Theirs::race : Theirs::clean,
               [mesh, race] { return complex_kernel(mesh, race); },
               {counted(all), filled_with(with_one(all), 0)},
               {}});
        }
      }
    }
  }
}

void add_dimensions(std::vector<RaceSet>& sets) {
  for (const pl::Shape& shape : {pl::Shape{2}, pl::Shape{2, 3}, pl::Shape{2, 1, 3}}) {
    for (const bool race : {true, false}) {
      const Mesh mesh{{{"c", 2}}, 1, {"c"}, shape};
      const int64_t n = pl::volume(shape);
      const auto body = [race, shape, n](Ref in, Ref scratch, Ref out, Scratch& s) {
        const Scalar cid = pl::axis_index("c");
        for (int64_t i = 0; i < n; ++i) {
          std::vector<Scalar> index(shape.size());
          for (int64_t left = i, d = static_cast<int64_t>(shape.size()); d-- > 0; left /= shape[d])
            index[d] = left % shape[d];
          scratch.at(i, cid).store(in.at(cid).load());
          exchange(s.barrier("barrier").indexed(index), !race);
          out.at(i, cid).store(scratch.at(i, 1 - cid).load());
        }
      };
      std::vector<int32_t> wanted;
      for (int64_t i = 0; i < n; ++i) wanted.insert(wanted.end(), {1, 0});
      sets.push_back({fmt::format("cluster_barrier_multidimensional_{}d race={:d}", shape.size(), race),
                      race ? Theirs::race : Theirs::clean,
                      [body, mesh, n] { return plgpu::kernel(body, mesh.options({{2}, {n, 2}}, {n, 2})); },
                      {counted({2}), filled_with(with_one({n, 2}), 0)},
                      wanted});
    }
  }
}

}  // namespace

void add_cluster_barrier_sets(std::vector<RaceSet>& sets) {
  add_peer(sets);
  add_rounds(sets);
  add_diagonal(sets);
  add_complex(sets);
  add_dimensions(sets);
}

}  // namespace palladion::test
