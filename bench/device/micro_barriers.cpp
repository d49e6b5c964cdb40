// Barriers: what arriving and waiting cost, and how long a waiting warp takes to go on.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

// `count` mbarriers of one arrival each, at %s.
std::string init(int count, int arrivals = 1) {
  std::string out = "setp.eq.u32 %p15, %me, 0;\n";
  for (int i = 0; i < count; ++i)
    out += fmt::format("@%p15 mbarrier.init.shared::cta.b64 [%s+{}], {};\n", 8 * i, arrivals);
  return out + "fence.mbarrier_init.release.cluster;\n";
}

// Waits until the phase with parity `parity` of the mbarrier at `address` has completed.
std::string wait(const std::string& label, const std::string& address, const std::string& parity) {
  return fill("$<l>: mbarrier.try_wait.parity.shared::cta.b64 %p14, [<a>], <p>;\n@!%p14 bra $<l>;\n",
              {{"l", label}, {"a", address}, {"p", parity}});
}

Case one(std::string name, std::string parameters, KernelText k, int warps, double operations) {
  Case c;
  c.name = std::move(name);
  c.parameters = std::move(parameters);
  c.unit = "cycles";
  c.text = text(k);
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 4096;
  c.shorter = 16;
  c.longer = 80;
  c.operations = operations;
  return c;
}

const char* const elected = "setp.eq.u32 %p13, %lane, 0;";

// A step sixteen times, by one lane.
Case repeated(const char* name, const char* step, int arrivals = 1) {
  KernelText k;
  k.prologue = init(1, arrivals);
  k.parts = {{.before = elected, .body = repeat(step, 16)}};
  return one(name, "", k, 1, 16);
}

Case waits_that_succeed() {
  KernelText k;
  k.prologue = init(1);
  std::string body;
  for (int i = 0; i < 8; ++i) body += wait("w" + std::to_string(i), "%s", "1");
  k.parts = {{.body = body}};
  return one("mbarrier.try_wait.done", "", k, 1, 8);
}

// Warp 0 and warp `other` hand a token back and forth: half a round trip.
Case hand_over(int other) {
  KernelText k;
  k.prologue = init(2);
  const auto side = [&](int warp, const char* mine, const char* theirs, bool first) {
    const std::string arrive = fmt::format("@%p13 mbarrier.arrive.shared::cta.b64 _, [%s+{}];\n", theirs);
    const std::string waits =
        "and.b32 %x0, %i, 1;\n" + wait("w" + std::to_string(warp), std::string("%s+") + mine, "%x0");
    return Part{.first_warp = warp, .before = elected, .body = first ? arrive + waits : waits + arrive};
  };
  k.parts = {side(0, "0", "8", true), side(other, "8", "0", false)};
  Case c = one("mbarrier.hand_over", fmt::format("to_warp={}", other), k, other + 1, 2);
  c.measure = warp(0);
  return c;
}

// The same between two CTAs of a cluster. At cluster scope ptxas makes a fence of the release and
// invalidates L1 at the acquire; without a scope (as CUTLASS writes it) neither.
Case hand_over_remote(bool cluster_scope) {
  KernelText k;
  k.clusters = true;
  k.prologue = init(1);
  const std::string arrive = fill("@%p13 mbarrier.arrive<sem>.shared::cluster.b64 _, [%x1];\n",
                                  {{"sem", cluster_scope ? ".release.cluster" : ""}});
  const auto waits = [&](const char* label) {
    return fill(
        "and.b32 %x0, %i, 1;\n$<l>: mbarrier.try_wait.parity<sem>.shared::cta.b64 %p14, [%s], %x0;\n"
        "@!%p14 bra $<l>;\n",
        {{"l", label}, {"sem", cluster_scope ? ".acquire.cluster" : ""}});
  };
  const std::string turn = "setp.eq.u32 %p12, %x2, 0;\n@!%p12 bra $second;\n" + arrive + waits("a") +
                           "bra $turned;\n$second:\n" + waits("b") + arrive + "$turned:\n";
  k.parts = {
      {.before =
           std::string(elected) +
           "mov.u32 %x2, %cluster_ctarank; xor.b32 %x3, %x2, 1; mapa.shared::cluster.u32 %x1, %s, %x3;\n",
       .body = turn}};
  Case c = one("mbarrier.hand_over.remote", cluster_scope ? "cluster scope" : "default scope", k, 1, 2);
  c.grid = {2, 1, 1};
  c.cluster = {2, 1, 1};
  c.measure = warp(0);
  return c;
}

Case failing_wait() {
  KernelText k;
  k.prologue = init(1);
  k.parts = {{.body = "mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s], 0; selp.u32 %x0, 1, 0, %p14; "
                      "add.u32 %x1, %x1, %x0;\n",
              .use = {"%x1"}}};
  Case c = one("mbarrier.try_wait.times_out", "", k, 1, 1);
  c.shorter = 2;
  c.longer = 6;
  c.needs_clock = true;
  return c;
}

Case failing_test() {
  KernelText k;
  k.prologue = init(1);
  k.parts = {{.body = repeat("mbarrier.test_wait.parity.shared::cta.b64 %p14, [%s], 0; selp.u32 %x0, 1, 0, "
                             "%p14; add.u32 %x1, %x1, %x0;\n",
                             16),
              .use = {"%x1"}}};
  return one("mbarrier.test_wait.fails", "", k, 1, 16);
}

Case named(int warps) {
  KernelText k;
  k.parts = {{.warps = warps, .body = repeat(fmt::format("bar.sync 1, {};", 32 * warps), 16)}};
  return one("barrier.sync", fmt::format("warps={}", warps), k, warps, 16);
}

Case syncthreads(int warps) {
  KernelText k;
  k.parts = {{.warps = warps, .body = repeat("bar.sync 0;", 16)}};
  return one("barrier.sync.all", fmt::format("warps={}", warps), k, warps, 16);
}

// bar.arrive by one side, bar.sync by the other, back and forth: half a round trip.
Case arrive_sync(int warps) {
  KernelText k;
  const int threads = 64 * warps;
  const auto side = [&](int first, const char* text) {
    return Part{
        .first_warp = first, .warps = warps, .body = repeat(fmt::format(fmt::runtime(text), threads), 8)};
  };
  k.parts = {side(0, "bar.arrive 1, {0}; bar.sync 2, {0};"),
             side(warps, "bar.sync 1, {0}; bar.arrive 2, {0};")};
  Case c = one("barrier.arrive_sync", fmt::format("warps={}+{}", warps, warps), k, 2 * warps, 16);
  return c;
}

Case cluster_barrier(int ctas, int warps) {
  KernelText k;
  k.clusters = true;
  k.parts = {
      {.warps = warps, .body = repeat("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", 8)}};
  Case c = one("barrier.cluster", fmt::format("ctas={} warps={}", ctas, warps), k, warps, 8);
  c.grid = c.cluster = {uint32_t(ctas), 1, 1};
  c.measure = mean_over(warps);
  return c;
}

Case clusters_relaxed(int ctas) {
  Case c = cluster_barrier(ctas, 4);
  KernelText k;
  k.clusters = true;
  k.parts = {{.warps = 4,
              .body = repeat("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;", 8)}};
  c.text = text(k);
  c.parameters += " relaxed";
  return c;
}

Case fence(const char* name, const char* step) {
  KernelText k;
  k.parts = {{.body = repeat(step, 16)}};
  return one(name, "", k, 1, 16);
}

}  // namespace

std::vector<Case> barrier_cases() {
  std::vector<Case> out;
  out.push_back(repeated("mbarrier.arrive", "@%p13 mbarrier.arrive.shared::cta.b64 _, [%s];"));
  out.push_back(repeated("mbarrier.arrive.token",
                         "@%p13 mbarrier.arrive.shared::cta.b64 %q0, [%s]; xor.b64 %q1, %q1, %q0;"));
  out.push_back(repeated("mbarrier.arrive.pending", "@%p13 mbarrier.arrive.shared::cta.b64 _, [%s];", 65536));
  out.push_back(
      repeated("mbarrier.arrive.expect_tx", "@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 0;"));
  out.push_back(
      repeated("mbarrier.expect_tx", "@%p13 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], 0;"));
  out.push_back(waits_that_succeed());
  for (const int other : {1, 4}) out.push_back(hand_over(other));
  for (const bool scope : {false, true}) out.push_back(hand_over_remote(scope));
  out.push_back(failing_wait());
  out.push_back(failing_test());
  for (const int warps : {1, 2, 4, 8, 16}) out.push_back(named(warps));
  for (const int warps : {4, 8, 12, 32}) out.push_back(syncthreads(warps));
  for (const int warps : {1, 4}) out.push_back(arrive_sync(warps));
  for (const int ctas : {2, 4, 8}) out.push_back(cluster_barrier(ctas, 4));
  out.push_back(cluster_barrier(2, 1));
  out.push_back(cluster_barrier(2, 12));
  out.push_back(clusters_relaxed(2));
  out.push_back(fence("fence.cta", "fence.acq_rel.cta;"));
  out.push_back(fence("fence.cluster", "fence.acq_rel.cluster;"));
  out.push_back(fence("fence.gpu", "fence.acq_rel.gpu;"));
  out.push_back(fence("fence.sys", "fence.acq_rel.sys;"));
  out.push_back(fence("fence.proxy.async", "fence.proxy.async;"));
  out.push_back(fence("fence.proxy.async.shared", "fence.proxy.async.shared::cta;"));
  out.push_back(fence("fence.cta+st.shared", "st.shared.u32 [%s+64], %c0; fence.acq_rel.cta;"));
  out.push_back(
      fence("fence.proxy.async+st.shared", "st.shared.u32 [%s+64], %c0; fence.proxy.async.shared::cta;"));
  return out;
}

}  // namespace palladion::bench
