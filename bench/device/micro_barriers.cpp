// Barriers: what arriving and waiting cost, and how long a waiting warp takes to go on.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

const char* const first_thread = "setp.eq.u32 %p15, %me, 0;\n";

// `count` mbarriers at %s, made by one thread.
std::string inits(int count, int arrivals = 1) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format("@%p15 mbarrier.init.shared::cta.b64 [%s+{}], {};\n", 8 * i, arrivals);
  return out;
}
std::string init(int count, int arrivals = 1) {
  return first_thread + inits(count, arrivals) + "fence.mbarrier_init.release.cluster;\n";
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

Case waits_that_succeed(bool cluster_scope) {
  KernelText k;
  k.prologue = init(1);
  std::string body;
  for (int i = 0; i < 8; ++i)
    body += fill("$w<i>: mbarrier.try_wait.parity<sem>.shared::cta.b64 %p14, [%s], 1;\n@!%p14 bra $w<i>;\n",
                 {{"i", std::to_string(i)}, {"sem", cluster_scope ? ".acquire.cluster" : ""}});
  k.parts = {{.body = body}};
  return one("mbarrier.try_wait.done", cluster_scope ? "cluster scope" : "", k, 1, 8);
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

// Arrivals at an mbarrier of the other CTA, back to back, by `lanes` lanes of each warp.
Case arrive_remote(const char* form, int warps, int lanes, bool own = false) {
  KernelText k;
  k.clusters = true;
  k.prologue = init(1, 1 << 19);
  const std::string start = fmt::format(
      "setp.lt.u32 %p13, %lane, {}; mov.u32 %x2, %cluster_ctarank; xor.b32 %x3, %x2, {};\n"
      "mapa.shared::cluster.u32 %x1, %s, %x3; setp.ne.u32 %p10, %x2, 0; @%p10 mov.u32 %n, 0;\n",
      lanes, own ? 0 : 1);
  k.parts = {{.warps = warps,
              .before = start,
              .body = "@!%p13 bra $idle;\n" + repeat(fmt::format("mbarrier.{};", form), 16) + "$idle:\n"}};
  const std::string sem = std::string(form).find("release") != std::string::npos ? " cluster scope" : "";
  Case c =
      one("mbarrier.arrive.remote",
          fmt::format("warps={} lanes={}{}{}", warps, lanes, own ? " self" : "", sem), k, warps, 16 * warps);
  c.grid = c.cluster = {2, 1, 1};
  c.measure = first_cta(warps);
  return c;
}

// All warps of all CTAs meet at mbarriers, as at a barrier of the cluster: each warp arrives at each CTA's.
Case meet(int ctas, int warps, bool cluster_scope, int clusters = 1) {
  KernelText k;
  k.clusters = true;
  k.chip_wide = clusters > 1;
  k.prologue = init(2, ctas * warps);
  Part part{.warps = warps, .before = std::string(elected) + "mov.u32 %x4, 0;\n"};
  for (int r = 0; r < ctas; ++r)
    part.before += fmt::format("mov.u32 %x0, {}; mapa.shared::cluster.u32 %x{}, %s, %x0;\n", r, 10 + r);
  for (int b = 0; b < 2; ++b) {
    for (int r = 0; r < ctas; ++r)
      part.body += fmt::format("@%p13 mbarrier.arrive{}.shared::cluster.b64 _, [%x{}+{}];\n",
                               cluster_scope ? ".release.cluster" : "", 10 + r, 8 * b);
    part.body += fill(
        "and.b32 %x0, %i, 1;\n$<l>: mbarrier.try_wait.parity<sem>.shared::cta.b64 %p14, [%s+<o>], %x0;\n"
        "@!%p14 bra $<l>;\n",
        {{"l", "meet" + std::to_string(b)},
         {"o", std::to_string(8 * b)},
         {"sem", cluster_scope ? ".acquire.cluster" : ""}});
  }
  k.parts = {part};
  Case c = one("mbarrier.meet",
               fmt::format("ctas={} warps={} {} scope", ctas, warps, cluster_scope ? "cluster" : "default"),
               k, warps, 2);
  c.grid = {uint32_t(ctas * clusters), 1, 1};
  c.cluster = {uint32_t(ctas), 1, 1};
  if (clusters > 1) c.parameters += fmt::format(" clusters={}", clusters);
  c.measure = mean_over(warps);
  return c;
}

// A load from the other CTA, or from its own, behind each acquire.
Case load_after_acquire(bool own) {
  KernelText k;
  k.clusters = true;
  k.prologue = init(1);
  const std::string start = fmt::format(
      "mov.u32 %x2, %cluster_ctarank; xor.b32 %x3, %x2, {}; mapa.shared::cluster.u32 %x4, %s, %x3; add.u32 "
      "%x4, %x4, 1024; mad.lo.u32 %x1, %me, 4, %x4; mad.lo.u32 %x5, %me, 4, %s;\nst.shared.u32 [%x5+1024], "
      "%x1; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n",
      own ? 0 : 1);
  std::string body;
  for (int i = 0; i < 8; ++i)
    body += fill(
        "$w<i>: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p14, [%s], 1;\n@!%p14 bra "
        "$w<i>;\nld.shared::cluster.u32 %x1, [%x1];\n",
        {{"i", std::to_string(i)}});
  k.parts = {{.before = start, .body = body, .use = {"%x1"}}};
  Case c =
      one("mbarrier.try_wait.done+ld.shared::cluster", own ? "self cluster scope" : "cluster scope", k, 1, 8);
  c.grid = c.cluster = {2, 1, 1};
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

// What one thread does to eight mbarriers, one after the other.
Case one_after_the_other() {
  KernelText k;
  k.parts = {{.before = first_thread, .body = inits(8)}};
  return one("mbarrier.init", "", k, 1, 8);
}

// How kernels begin: one thread makes `count` mbarriers, and all warps meet.
Case set_up(int count) {
  KernelText k;
  k.parts = {{.warps = 12,
              .before = first_thread,
              .body = inits(count) + "@%p15 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"}};
  return one("mbarrier.set_up", fmt::format("count={}", count), k, 12, 1);
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

Case cluster_barrier(int ctas, int warps, int clusters = 1) {
  KernelText k;
  k.clusters = true;
  k.chip_wide = clusters > 1;
  k.parts = {
      {.warps = warps, .body = repeat("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", 8)}};
  Case c = one("barrier.cluster", fmt::format("ctas={} warps={}", ctas, warps), k, warps, 8);
  c.grid = {uint32_t(ctas * clusters), 1, 1};
  c.cluster = {uint32_t(ctas), 1, 1};
  if (clusters > 1) c.parameters += fmt::format(" clusters={}", clusters);
  c.measure = mean_over(warps);
  return c;
}

// The same with another body.
Case cluster_barrier_of(int ctas, const Part& part) {
  Case c = cluster_barrier(ctas, part.warps);
  KernelText k;
  k.clusters = true;
  k.parts = {part};
  c.text = text(k);
  return c;
}

Case clusters_relaxed(int ctas, int warps) {
  Case c = cluster_barrier_of(
      ctas, {.warps = warps,
             .body = repeat("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;", 8)});
  c.parameters += " relaxed";
  return c;
}

// With a store to the next CTA's shared memory on its way.
Case clusters_after_store(int ctas, int warps) {
  Case c = cluster_barrier_of(
      ctas, {.warps = warps,
             .before = "mov.u32 %x2, %cluster_ctarank; xor.b32 %x3, %x2, 1; mapa.shared::cluster.u32 %x1, "
                       "%s, %x3; mad.lo.u32 %x1, %me, 4, %x1;\n",
             .body = repeat("st.shared::cluster.u32 [%x1], %c0; barrier.cluster.arrive.aligned; "
                            "barrier.cluster.wait.aligned;",
                            8)});
  c.name += "+st.shared::cluster";
  return c;
}

Case fence(const char* name, const char* step, int warps = 1, int ctas = 1) {
  KernelText k;
  k.chip_wide = ctas > 1;
  k.parts = {{.warps = warps, .body = repeat(step, 16)}};
  Case c = one(name, warps == 1 ? "" : fmt::format("warps={}", warps), k, warps, 16);
  if (ctas == 1) return c;
  c.parameters += fmt::format(" ctas={}", ctas);
  c.grid = {uint32_t(ctas), 1, 1};
  c.measure = mean_over(warps);
  return c;
}

Case fence_after_remote_store() {
  Case c = fence("fence.cluster+st.shared::cluster", "");
  KernelText k;
  k.clusters = true;
  k.parts = {{.before =
                  "mov.u32 %x2, %cluster_ctarank; xor.b32 %x3, %x2, 1; mapa.shared::cluster.u32 %x1, %s, "
                  "%x3; mad.lo.u32 %x1, %me, 4, %x1; setp.ne.u32 %p10, %x2, 0; @%p10 mov.u32 %n, 0;\n",
              .body = repeat("st.shared::cluster.u32 [%x1], %c0; fence.acq_rel.cluster;", 16)}};
  c.text = text(k);
  c.grid = c.cluster = {2, 1, 1};
  c.measure = warp(0);
  return c;
}

void add_mbarriers(std::vector<Case>& out) {
  out.push_back(repeated("mbarrier.arrive", "@%p13 mbarrier.arrive.shared::cta.b64 _, [%s];"));
  out.push_back(repeated("mbarrier.arrive.token",
                         "@%p13 mbarrier.arrive.shared::cta.b64 %q0, [%s]; xor.b64 %q1, %q1, %q0;"));
  out.push_back(repeated("mbarrier.arrive.pending", "@%p13 mbarrier.arrive.shared::cta.b64 _, [%s];", 65536));
  out.push_back(
      repeated("mbarrier.arrive.expect_tx", "@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 0;"));
  out.push_back(
      repeated("mbarrier.expect_tx", "@%p13 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], 0;"));
  for (const bool scope : {false, true}) out.push_back(waits_that_succeed(scope));
  for (const int other : {1, 4}) out.push_back(hand_over(other));
  for (const bool scope : {false, true}) out.push_back(hand_over_remote(scope));
  for (const int warps : {1, 4}) {
    out.push_back(arrive_remote("arrive.shared::cluster.b64 _, [%x1]", warps, 1));
    out.push_back(arrive_remote("arrive.shared::cluster.b64 _, [%x1]", warps, 32));
    out.push_back(arrive_remote("arrive.shared::cluster.b64 _, [%x1]", warps, 1, true));
    out.push_back(arrive_remote("arrive.release.cluster.shared::cluster.b64 _, [%x1]", warps, 1));
    out.push_back(arrive_remote("arrive.release.cluster.shared::cluster.b64 _, [%x1]", warps, 1, true));
  }
  for (const bool scope : {false, true})
    for (const auto& [ctas, warps, clusters] : {std::tuple{2, 1, 1},
                                                {2, 4, 1},
                                                {4, 4, 1},
                                                {8, 4, 1},
                                                {2, 4, 66},
                                                {4, 4, 30},
                                                {2, 4, 132},
                                                {4, 4, 60}})
      out.push_back(meet(ctas, warps, scope, clusters));
  for (const bool own : {false, true}) out.push_back(load_after_acquire(own));
  out.push_back(failing_wait());
  out.push_back(failing_test());
  out.push_back(one_after_the_other());
}

void add_barriers(std::vector<Case>& out) {
  for (const int count : {0, 1, 4, 8}) out.push_back(set_up(count));
  for (const int warps : {1, 2, 4, 8, 16}) out.push_back(named(warps));
  for (const int warps : {4, 8, 12, 32}) out.push_back(syncthreads(warps));
  for (const int warps : {1, 4}) out.push_back(arrive_sync(warps));
  for (const int ctas : {2, 4, 8, 16}) out.push_back(cluster_barrier(ctas, 4));
  for (const int warps : {1, 8, 12, 32}) out.push_back(cluster_barrier(2, warps));
  out.push_back(cluster_barrier(2, 4, 66));
  for (const int ctas : {2, 4, 8, 16}) out.push_back(clusters_relaxed(ctas, 4));
  for (const int warps : {1, 12, 32}) out.push_back(clusters_relaxed(2, warps));
  for (const int ctas : {2, 4}) out.push_back(clusters_after_store(ctas, 4));
}

void add_fences(std::vector<Case>& out) {
  out.push_back(fence("fence.cta", "fence.acq_rel.cta;"));
  out.push_back(fence("fence.cluster", "fence.acq_rel.cluster;"));
  for (const int warps : {4, 12, 32}) out.push_back(fence("fence.cluster", "fence.acq_rel.cluster;", warps));
  out.push_back(fence("fence.cluster", "fence.acq_rel.cluster;", 4, 132));
  for (const auto& [warps, ctas] :
       {std::pair{8, 132}, {16, 132}, {32, 132}, {32, 66}, {32, 16}, {32, 8}, {32, 2}, {4, 264}})
    out.push_back(fence("fence.cluster", "fence.acq_rel.cluster;", warps, ctas));
  out.push_back(fence_after_remote_store());
  out.push_back(fence("fence.gpu", "fence.acq_rel.gpu;"));
  out.push_back(fence("fence.sys", "fence.acq_rel.sys;"));
  out.push_back(fence("fence.proxy.async", "fence.proxy.async;"));
  out.push_back(fence("fence.proxy.async.shared", "fence.proxy.async.shared::cta;"));
  out.push_back(fence("fence.cta+st.shared", "st.shared.u32 [%s+64], %c0; fence.acq_rel.cta;"));
  out.push_back(
      fence("fence.proxy.async+st.shared", "st.shared.u32 [%s+64], %c0; fence.proxy.async.shared::cta;"));
}

}  // namespace

std::vector<Case> barrier_cases() {
  std::vector<Case> out;
  add_mbarriers(out);
  add_barriers(out);
  add_fences(out);
  return out;
}

}  // namespace palladion::bench
