#include "kernels/examples/cluster_exchange.h"

#include <fmt/format.h>

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

using Variant = ClusterExchange::Variant;

void check(const ClusterExchange& c) {
  Rules("cluster_exchange")
      .require(c.n > 0 && c.n % 128 == 0 && c.rounds >= 1,
               fmt::format("n={} must be a multiple of 128, rounds={} at least 1", c.n, c.rounds));
}

struct Body {
  const ClusterExchange& c;
  Ref x, out;
  Ref pieces;  // (2, cluster, n): what this CTA has, what it receives
  BarrierRef everyone, landed;

  Scalar rank() const { return pl::axis_index("cta"); }
  // Each CTA begins with itself and continues with its neighbour, so that no CTA is read by all at once.
  template <class F>
  void for_each_peer(F&& body) const {
    for (int64_t s = 0; s < c.cluster; ++s) body((rank() + s) % c.cluster);
  }

  // Two barriers alternate: a CTA that arrives at one again has waited for the other, at which all arrived
  // later.
  void meet(const Scalar& round) const {
    plgpu::barrier_arrive(everyone.at(round % 2));
    plgpu::barrier_wait(everyone.at(round % 2));
  }

  void pull(const Scalar& have, const Scalar& get) const {
    for_each_peer([&](const Scalar& peer) {
      const Ref theirs = plgpu::cluster_ref(pieces.at(have, rank()), "cta", peer);
      pieces.at(get, peer).store(theirs.load());
    });
  }
  void push(const Scalar& have, const Scalar& get) const {
    for_each_peer([&](const Scalar& peer) {
      plgpu::async_store_smem(pieces.at(have, peer).load(), pieces.at(get, rank()), landed,
                              {.cluster_idx = peer, .cluster_dim = "cta"});
    });
    plgpu::barrier_wait(landed);
  }

  void run() const {
    const Ref mine = x.at(pl::axis_index("cluster"), rank()),
              result = out.at(pl::axis_index("cluster"), rank());
    for (int64_t s = 0; s < c.cluster; ++s) pieces.at(0, s).store(mine.at(s).load());
    pl::fori_loop(0, c.rounds, [&](const Scalar& round) {
      const Scalar have = round % 2, get = Scalar(1) - have;
      meet(round);  // what is read has arrived, and what is overwritten was read in the round before
      if (c.variant == Variant::load)
        pull(have, get);
      else
        push(have, get);
    });
    // No CTA exits while others read its memory.
    meet(c.rounds);
    for (int64_t s = 0; s < c.cluster; ++s) result.at(s).store(pieces.at(c.rounds % 2, s).load());
  }
};

ClusterExchange config_of(const Choice& choice) {
  return {.clusters = choice.size("clusters"),
          .n = choice.size("n"),
          .cluster = choice.number("cluster"),
          .rounds = choice.number("rounds"),
          .variant = choice.word("variant") == "load" ? Variant::load : Variant::store};
}

pl::ShapeDtype type_of(const ClusterExchange& c) {
  return {pl::f32, {c.clusters, c.cluster, c.cluster, c.n}};
}

std::vector<Array> reference(const Choice& choice, const std::vector<Array>& inputs) {
  const ClusterExchange c = config_of(choice);
  if (c.rounds % 2 == 0) return inputs;
  std::vector<float> y(static_cast<size_t>(inputs[0].size()));
  const std::vector<float> x = to_floats(inputs[0]);
  const auto at = [&](int64_t cluster, int64_t r, int64_t s, int64_t i) {
    return static_cast<size_t>(((cluster * c.cluster + r) * c.cluster + s) * c.n + i);
  };
  for (int64_t g = 0; g < c.clusters; ++g)
    for (int64_t r = 0; r < c.cluster; ++r)
      for (int64_t s = 0; s < c.cluster; ++s)
        for (int64_t i = 0; i < c.n; ++i) y[at(g, s, r, i)] = x[at(g, r, s, i)];
  return {from_floats(inputs[0].type, y)};
}

}  // namespace

plgpu::Kernel cluster_exchange(const ClusterExchange& c) {
  check(c);
  plgpu::KernelOptions o;
  o.in_types = type_of(c);
  o.out_type = type_of(c);
  o.scratch_types = {
      {"pieces", plgpu::SMEM({2, c.cluster, c.n}, pl::f32)},
      {"everyone",
       plgpu::ClusterBarrier({.collective_axes = {"cta"}, .num_barriers = {2}, .orders_memory = true})}};
  if (c.variant == Variant::store)
    o.scratch_types.push_back({"landed", plgpu::Barrier({.num_arrivals = c.cluster})});
  o.grid = {c.clusters};
  o.grid_names = {"cluster"};
  o.cluster = {c.cluster};
  o.cluster_names = {"cta"};
  o.name = "cluster_exchange";
  return plgpu::kernel(
      [&](const Ref& x, const Ref& out, plgpu::Scratch& s) {
        Body{.c = c,
             .x = x,
             .out = out,
             .pieces = s["pieces"],
             .everyone = s.barrier("everyone"),
             .landed = c.variant == Variant::store ? s.barrier("landed") : BarrierRef()}
            .run();
      },
      o);
}

KernelSpec cluster_exchange_spec() {
  KernelSpec spec = spec_of(
      "cluster_exchange", "All to all within a cluster, through distributed shared memory, round after round",
      {"x"}, {"y"});
  spec.sizes = {{"clusters", 66, "clusters of the grid"}, {"n", 2048, "elements of a piece"}};
  spec.settings = {{"cluster", "2", "CTAs of a cluster", {"2", "4", "8"}},
                   {"rounds", "15", "exchanges", {}},
                   {"variant",
                    "load",
                    "which side moves the data: the reader loads or the sender stores",
                    {"load", "store"}}};
  spec.build = [](const Choice& choice) { return cluster_exchange(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    return normal_inputs({type_of(config_of(choice))}, seed);
  };
  spec.reference = reference;
  return spec;
}

}  // namespace palladion::kernels
