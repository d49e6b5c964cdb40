// All to all within clusters, round after round, as kernels do it: all CTAs meet at mbarriers, then move
// pieces of shared memory by loads or by st.async.
#include <fmt/format.h>

#include "bench/device/micro_route.h"

namespace palladion::bench {
namespace {

struct Exchange {
  bool stores = false;
  int ctas = 2, clusters = 1;
  int elements = 2048;     // f32 of a piece
  bool releases = true;    // arrivals of cluster scope: a fence before each
  bool tells = true;       // the same of those that announce bytes
  bool staggered = false;  // clusters begin at different times
};

constexpr int warps = 4, threads = 32 * warps;
constexpr int data_at = 1024;  // of the window; before it: two mbarriers to meet at, one for what lands

int piece_bytes(const Exchange& e) { return 4 * e.elements; }
int vector(const Exchange& e) { return std::min(4, e.elements / threads); }
int chunk_bytes(const Exchange& e) { return 4 * vector(e) * threads; }

// %x<60+t>: the place of the target's piece, %x80: of the own one; %x<10+t>: the target's last mbarrier.
std::string places(const Exchange& e) {
  std::string out = fmt::format(
      "setp.eq.u32 %p15, %me, 0;\n@%p15 mbarrier.init.shared::cta.b64 [%s], {0};\n@%p15 "
      "mbarrier.init.shared::cta.b64 [%s+8], {0};\n@%p15 mbarrier.init.shared::cta.b64 [%s+16], {1};\n"
      "fence.mbarrier_init.release.cluster;\nsetp.eq.u32 %p13, %lane, 0;\n"
      "mad.lo.u32 %x81, %me, {2}, {3}; mad.lo.u32 %x80, %rank, {4}, %x81;\n",
      e.ctas * warps, e.ctas, 4 * vector(e), data_at, piece_bytes(e));
  for (int t = 0; t < e.ctas; ++t)
    out += fmt::format(
        "add.u32 %x{0}, %rank, {1}; and.b32 %x{0}, %x{0}, {2}; mad.lo.u32 %x{0}, %x{0}, {3}, %x81; add.u32 "
        "%x{4}, %to{1}, 16;\n",
        60 + t, t, e.ctas - 1, piece_bytes(e), 10 + t);
  return out;
}

std::string meet(const Exchange& e) {
  std::string out = "shl.b32 %x1, %x0, 3; bar.warp.sync -1;\n";
  for (int t = 0; t < e.ctas; ++t)
    out += fmt::format("add.u32 %x2, %to{}, %x1;\n@%p13 mbarrier.arrive{}.shared::cluster.b64 _, [%x2];\n", t,
                       e.releases ? ".release.cluster" : "");
  return out + fmt::format(
                   "add.u32 %x3, %s, %x1; shr.u32 %x4, %i, 1; and.b32 %x4, %x4, 1;\n$everyone: "
                   "mbarrier.try_wait.parity{}.shared::cta.b64 %p14, [%x3], %x4;\n@!%p14 bra $everyone;\n",
                   e.releases ? ".acquire.cluster" : "");
}

std::string registers(const Exchange& e, int chunk) {
  std::string out;
  for (int k = 0; k < vector(e); ++k) out += fmt::format("{}%x{}", k == 0 ? "" : ", ", 20 + 4 * chunk + k);
  return "{" + out + "}";
}

// From `source`, or into `place`: a window and an offset in the pieces.
std::string chunks(const Exchange& e, const std::string& step) {
  std::string out;
  for (int c = 0; c * chunk_bytes(e) < piece_bytes(e); ++c)
    out += fill(step, {{"v", "v" + std::to_string(vector(e))},
                       {"r", registers(e, c)},
                       {"o", std::to_string(c * chunk_bytes(e))}}) +
           "\n";
  return out;
}

std::string push(const Exchange& e) {
  std::string out;
  for (int t = 0; t < e.ctas; ++t) {
    out +=
        fmt::format("add.u32 %x7, %x5, %x{}; add.u32 %x8, %x6, %x80; add.u32 %x8, %x8, %to{};\n", 60 + t, t) +
        chunks(e, "ld.shared.<v>.u32 <r>, [%x7+<o>];");
    out += fmt::format("@%p15 mbarrier.arrive.expect_tx{}.shared::cluster.b64 _, [%x{}], {};\n",
                       e.tells ? ".release.cluster" : ".relaxed.cluster", 10 + t, piece_bytes(e));
    for (int c = 0; c * chunk_bytes(e) < piece_bytes(e); ++c)
      for (int k = 0; k < vector(e); ++k)
        out +=
            fmt::format("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%x8+{}], %x{}, [%x{}];\n",
                        c * chunk_bytes(e) + 4 * k, 20 + 4 * c + k, 10 + t);
  }
  return out + "$landed: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s+16], %x0;\n@!%p14 bra $landed;\n";
}

std::string pull(const Exchange& e) {
  std::string out;
  for (int t = 0; t < e.ctas; ++t)
    out += fmt::format(
               "add.u32 %x7, %x5, %x80; sub.u32 %x7, %x7, %s; add.u32 %x7, %x7, %to{}; add.u32 %x8, %x6, "
               "%x{};\n",
               t, 60 + t) +
           chunks(e, "ld.shared::cluster.<v>.u32 <r>, [%x7+<o>];") + "bar.sync 0;\n" +
           chunks(e, "st.shared.<v>.u32 [%x8+<o>], <r>;") + "bar.sync 0;\n";
  return out;
}

// %x5, %x6: what there is and what comes, in the own window.
Case exchange(const Exchange& e) {
  const Route route{Route::Way::everyone, e.ctas, e.clusters};
  Part part;
  part.warps = warps;
  const int set = e.ctas * piece_bytes(e);
  part.body = "and.b32 %x0, %i, 1;\n" + meet(e) +
              fmt::format("mad.lo.u32 %x5, %x0, {0}, %s; mad.lo.u32 %x6, %x0, -{0}, {1};\n", set,
                          e.stores ? std::to_string(set) : "%x9") +
              (e.stores ? push(e) : pull(e));
  part.before = fmt::format("add.u32 %x9, %s, {};\n", set);
  // Up to some 14000 cycles later, none like its neighbours.
  if (e.staggered)
    part.before += fmt::format(
        "div.u32 %x82, %cta, {}; mul.lo.u32 %x82, %x82, 5; and.b32 %x82, %x82, 7; mad.lo.u32 %x82, %x82, "
        "128, "
        "1; mov.u32 %x83, %c0;\n$later: {} sub.u32 %x82, %x82, 1; setp.ne.u32 %p10, %x82, 0; @%p10 bra "
        "$later;\n"
        "setp.eq.u32 %p10, %x83, 77; @%p10 add.u32 %x80, %x80, 1;\n",
        e.ctas, "mul.hi.u32 %x83, %x83, %c1;");
  KernelText k{.directives = ".maxnreg 128"};
  k.prologue = places(e);
  k.parts = {part};
  const char* const scope = e.releases ? (e.tells ? "" : " fenced meetings")
                            : e.tells  ? " fenced pushes"
                                       : " default scope";
  Case c = cluster_case(fmt::format("dsmem.exchange.{}", e.stores ? "st.async" : "ld"),
                        fmt::format("elements={}{}{}", e.elements, scope, e.staggered ? " staggered" : ""), k,
                        route, warps);
  c.unit = "cycles/round";
  c.shared_bytes = uint32_t(data_at + 2 * set);
  c.shorter = 4;
  c.longer = 20;
  return c;
}

}  // namespace

std::vector<Case> exchange_cases() {
  std::vector<Case> out;
  for (const bool releases : {true, false})
    for (const int clusters : {1, 66}) {
      out.push_back(exchange({true, 2, clusters, 2048, releases, releases}));
      out.push_back(exchange({false, 2, clusters, 256, releases, releases}));
    }
  for (const bool releases : {true, false}) {
    out.push_back(exchange({false, 2, 132, 256, releases, releases}));
    out.push_back(exchange({true, 2, 132, 1024, releases, releases}));
  }
  for (const bool releases : {true, false})
    for (const int clusters : {1, 66})
      out.push_back(exchange({true, 2, clusters, 2048, releases, !releases}));
  for (const int clusters : {33, 66}) out.push_back(exchange({true, 2, clusters, 2048, true, true, true}));
  out.push_back(exchange({true, 2, 66, 2048, false, false, true}));
  out.push_back(exchange({true, 2, 33, 2048}));
  out.push_back(exchange({false, 2, 66, 2048}));
  for (const int clusters : {1, 30, 32, 60}) {
    out.push_back(exchange({true, 4, clusters, 1024}));
    out.push_back(exchange({false, 4, clusters, 1024}));
  }
  return out;
}

}  // namespace palladion::bench
