// Distributed shared memory between the two CTAs of a cluster: latency and throughput, one way and both.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

struct Op {
  const char* name;
  const char* step;  // %x<i>: a place in the other CTA that holds its own address
  int bytes;         // of a lane
};

const Op ops[] = {
    {"ld.b32", "ld.volatile.shared::cluster.u32 %x<i>, [%x<i>];", 4},
    {"ld.v4", "ld.volatile.shared::cluster.v4.u32 {%x<i>, %x100, %x101, %x102}, [%x<i>];", 16},
    {"st.b32", "st.volatile.shared::cluster.u32 [%x<i>], %x<i>;", 4},
    {"st.v4", "st.volatile.shared::cluster.v4.u32 [%x<i>], {%x<i>, %c1, %c2, %c3};", 16},
    {"atom.add", "atom.shared::cluster.add.u32 %x<i>, [%x<i>], %x99;", 4},
};

// Only rank 0 goes round when the way is one.
std::string direction(bool both) {
  return both ? "" : "mov.u32 %x92, %cluster_ctarank; setp.ne.u32 %p10, %x92, 0; @%p10 mov.u32 %n, 0;\n";
}

std::string places(const Op& op) {
  return fmt::format(
      "mul.lo.u32 %x90, %me, {0}; add.u32 %x90, %x90, %s; mov.u32 %x92, %cluster_ctarank; "
      "mapa.shared::cluster.u32 %x91, %x90, %x92;\n"
      "st.shared.u32 [%x90], %x91; xor.b32 %x92, %x92, 1; mapa.shared::cluster.u32 %x91, %x90, %x92;\n"
      "setp.eq.u32 %p0, %c0, 0x12345; selp.u32 %x99, 1, 0, %p0;\n",
      op.bytes);
}

Case frame(std::string name, const KernelText& k, int warps) {
  Case c;
  c.name = std::move(name);
  c.text = text(k);
  c.grid = c.cluster = {2, 1, 1};
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 128 << 10;
  c.measure = first_cta(warps);
  return c;
}

Case access(const Op& op, int warps, int chains, bool both) {
  const int steps = 64;
  Part part;
  part.warps = warps;
  part.before = direction(both);
  for (int i = 0; i < chains; ++i) part.before += fmt::format("mov.u32 %x{}, %x91;\n", i);
  for (int i = 0; i < steps / chains; ++i) part.body += repeat(op.step, chains);
  for (int i = 0; i < chains; ++i) part.use.push_back("%x" + std::to_string(i));
  KernelText k{.prologue = places(op), .parts = {part}, .clusters = true};
  Case c = frame(std::string("dsmem.") + op.name, k, warps);
  c.parameters = fmt::format("warps={} chains={} {}", warps, chains, both ? "both ways" : "one way");
  c.unit = "cycles/instruction/SM";
  c.operations = double(steps) * warps;
  return c;
}

// Bulk copies to the other CTA; its mbarrier there is waited for by nobody but counts: one arrival a copy.
// `in_flight` are issued, then rank 0 waits on its own mbarrier, which rank 1 echoes.
Case bulk(int bytes, int in_flight, bool both) {
  KernelText k{.clusters = true};
  k.prologue =
      "setp.eq.u32 %p15, %me, 0;\n@%p15 mbarrier.init.shared::cta.b64 [%s], 1;\n@%p15 "
      "mbarrier.init.shared::cta.b64 [%s+8], 1;\n"
      "fence.mbarrier_init.release.cluster;\n";
  Part sender, receiver;
  const std::string start =
      "setp.eq.u32 %p13, %lane, 0; mov.u32 %x92, %cluster_ctarank; xor.b32 %x93, %x92, 1; "
      "mapa.shared::cluster.u32 %x94, %s, %x93; add.u32 %x95, %x94, 8;\n";
  const std::string send_only = both ? "" : "setp.ne.u32 %p10, %x92, 0; @%p10 mov.u32 %n, 0;\n";
  const std::string receive_only = both ? "" : "setp.eq.u32 %p10, %x92, 0; @%p10 mov.u32 %n, 0;\n";
  sender.before = start + send_only;
  for (int i = 0; i < in_flight; ++i)
    sender.body += fmt::format(
        "add.u32 %x1, %x94, {0}; add.u32 %x2, %s, {0};\n@%p13 "
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%x1], [%x2], {1}, [%x94];\n",
        1024 + i * bytes, bytes);
  sender.body +=
      "and.b32 %x0, %i, 1;\n$echo: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s+8], %x0;\n@!%p14 bra "
      "$echo;\n";
  receiver.first_warp = 1;
  receiver.before = start + receive_only;
  receiver.body =
      fmt::format("@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], {};\nand.b32 %x0, %i, 1;\n",
                  bytes * in_flight) +
      "$full: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s], %x0;\n@!%p14 bra $full;\n"
      "@%p13 mbarrier.arrive.shared::cluster.b64 _, [%x95];\n";
  k.parts = {sender, receiver};
  Case c = frame("dsmem.bulk", k, 2);
  c.parameters = fmt::format("bytes={} in_flight={} {}", bytes, in_flight, both ? "both ways" : "one way");
  c.unit = "cycles/round";
  c.measure = warp(0);
  c.shorter = 16;
  c.longer = 80;
  return c;
}

// st.async into the other CTA and an echo: half a round trip.
Case store_async() {
  KernelText k{.clusters = true};
  k.prologue =
      "setp.eq.u32 %p15, %me, 0;\n@%p15 mbarrier.init.shared::cta.b64 [%s], "
      "1;\nfence.mbarrier_init.release.cluster;\n";
  const std::string send =
      "@%p13 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%x1+64], %c0, [%x1];\n";
  const std::string expect =
      "@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 4;\nand.b32 %x0, %i, 1;\n";
  const std::string wait =
      "$<l>: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s], %x0;\n@!%p14 bra $<l>;\n";
  Part part;
  part.before =
      "setp.eq.u32 %p13, %lane, 0; mov.u32 %x2, %cluster_ctarank; xor.b32 %x3, %x2, 1; "
      "mapa.shared::cluster.u32 %x1, %s, %x3;\n";
  part.body = "setp.eq.u32 %p12, %x2, 0;\n@!%p12 bra $second;\n" + send + expect + fill(wait, {{"l", "a"}}) +
              "bra $turned;\n$second:\n" + expect + fill(wait, {{"l", "b"}}) + send + "$turned:\n";
  k.parts = {part};
  Case c = frame("dsmem.st.async", k, 1);
  c.unit = "cycles one way";
  c.measure = warp(0);
  c.shorter = 16;
  c.longer = 80;
  c.operations = 2;
  return c;
}

}  // namespace

std::vector<Case> cluster_cases() {
  std::vector<Case> out;
  for (const Op& op : ops) {
    out.push_back(access(op, 1, 1, false));
    out.push_back(access(op, 1, 8, false));
    out.push_back(access(op, 16, 4, false));
    out.push_back(access(op, 16, 4, true));
  }
  for (const auto& [bytes, in_flight] : {std::pair{128, 1}, {2048, 1}, {16384, 1}, {16384, 4}}) {
    out.push_back(bulk(bytes, in_flight, false));
    out.push_back(bulk(bytes, in_flight, true));
  }
  out.push_back(store_async());
  return out;
}

}  // namespace palladion::bench
