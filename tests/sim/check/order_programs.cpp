#include "tests/sim/check/order_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace palladion::tests::order {
namespace {

using Kind = Step::Kind;
using Lanes = std::array<uint32_t, warps>;

uint32_t number_of(const Lanes& lanes) {
  return static_cast<uint32_t>(std::popcount(lanes[0]) + std::popcount(lanes[1]));
}

// --- random programs ------------------------------------------------------------------------------
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  Program program() {
    for (uint32_t hands = 1 + below(3); hands != 0; --hands) hand_over();
    finish();
    return std::move(out_);
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }

  Lanes some_lanes() {
    const uint32_t half = one_in(2) ? 0xFFFFU : 0xFFFF0000U, one = 1U << below(32);
    const Lanes kinds[] = {
        {~0U, ~0U},   {~0U, 0}, {0, ~0U},    {half, 0},  {0, half},
        {half, half}, {one, 0}, {~one, ~0U}, {one, one}, {static_cast<uint32_t>(random_()), ~0U}};
    return kinds[below(std::size(kinds))];
  }
  // Mostly those that did what came before.
  Lanes mostly(const Lanes& lanes) { return one_in(4) ? some_lanes() : lanes; }

  void add(Step step) { out_.steps.push_back(step); }
  uint32_t new_mbarrier(uint32_t arrivals) {
    out_.expected.push_back(arrivals);
    return static_cast<uint32_t>(out_.expected.size() - 1);
  }

  // An access of some threads, what completes it, what orders it, and an access of others.
  void hand_over() {
    const Lanes by = some_lanes();
    access(by);
    if (one_in(3)) add({.kind = Kind::fence, .lanes = mostly(by)});
    synchronise(mostly(by));
    if (one_in(3)) synchronise(some_lanes());
    if (one_in(3)) add({.kind = Kind::fence, .lanes = some_lanes()});
    access(some_lanes());
  }

  void access(const Lanes& by) {
    const uint32_t flip = one_in(2) ? 0 : below(threads), word = one_in(2) ? 0 : below(4);
    switch (below(6)) {
      case 5:
        return store_async(by, flip, word);
      case 0:
        return add({.kind = Kind::store, .lanes = by, .flip = flip, .word = word});
      case 1:
        return add({.kind = Kind::load, .lanes = by, .flip = flip, .word = word});
      case 2:
        return bulk();
      default:
        return copy(by, flip);
    }
  }

  void copy(const Lanes& by, uint32_t flip) {
    const auto once = [&](uint32_t at) {
      add({.kind = Kind::copy, .lanes = mostly(by), .flip = at, .bytes = 4U << below(3)});
      if (!one_in(6)) add({.kind = Kind::commit, .lanes = mostly(by)});
    };
    once(flip);
    if (one_in(3)) once(flip ^ 1);
    if (one_in(5)) return;
    if (one_in(2)) return add({.kind = Kind::wait_group, .lanes = mostly(by), .groups = one_in(3) ? 1U : 0U});
    const Lanes arrive = mostly(by);
    const uint32_t mbarrier = new_mbarrier(number_of(arrive));
    add({.kind = Kind::copy_arrive, .lanes = arrive, .mbarrier = mbarrier});
    if (!one_in(5)) add({.kind = Kind::wait, .lanes = one_in(2) ? by : some_lanes(), .mbarrier = mbarrier});
  }

  void bulk() {
    Lanes one{};
    one[below(warps)] = 1U << below(32);
    const uint32_t count = 1 + below(slots), mbarrier = new_mbarrier(1);
    add({.kind = Kind::bulk,
         .lanes = one,
         .mbarrier = mbarrier,
         .first = below(slots - count + 1),
         .count = count});
    if (!one_in(4)) add({.kind = Kind::wait, .lanes = one_in(2) ? one : some_lanes(), .mbarrier = mbarrier});
  }

  void store_async(const Lanes& by, uint32_t flip, uint32_t word) {
    const uint32_t low = number_of({by[0] & 0xFFFF, by[1] & 0xFFFF}), high = number_of(by) - low;
    if (low == 0 || high == 0) return;  // an mbarrier expects an arrival at least
    const uint32_t mbarrier = new_mbarrier(low);
    new_mbarrier(high);
    add({.kind = Kind::store_async, .lanes = by, .flip = flip, .word = word, .mbarrier = mbarrier});
    if (!one_in(4)) add({.kind = Kind::wait, .lanes = one_in(2) ? by : some_lanes(), .mbarrier = mbarrier});
    if (!one_in(4))
      add({.kind = Kind::wait, .lanes = one_in(2) ? by : some_lanes(), .mbarrier = mbarrier + 1});
  }

  void synchronise(const Lanes& by) {
    switch (below(5)) {
      case 0:
      case 1:
        return add({.kind = Kind::barrier});
      case 2: {
        Lanes one_warp{};
        one_warp[by[0] == 0 ? 1 : 0] = one_in(2) ? ~0U : by[by[0] == 0 ? 1 : 0];
        return add({.kind = Kind::warp_sync, .lanes = one_warp});
      }
      case 3: {
        const uint32_t mbarrier = new_mbarrier(number_of(by));
        add({.kind = Kind::arrive, .lanes = by, .mbarrier = mbarrier});
        return add({.kind = Kind::wait, .lanes = some_lanes(), .mbarrier = mbarrier});
      }
      default:
        return;
    }
  }

  // All threads wait for everything: no copy is under way when they exit.
  void finish() {
    add({.kind = Kind::commit});
    add({.kind = Kind::wait_group});
    for (uint32_t m = 0; m < out_.expected.size(); ++m) add({.kind = Kind::wait, .mbarrier = m});
  }

  std::mt19937_64 random_;
  Program out_;
};

// --- PTX ------------------------------------------------------------------------------------------
std::string instructions(const Step& s, uint32_t index) {
  const std::string mbarrier = fmt::format("[%bars+{}]", 8 * s.mbarrier);
  const std::string slot = fmt::format("  xor.b32 %at, %r1, {};\n  shl.b32 %at, %at, 4;\n", s.flip);
  switch (s.kind) {
    case Kind::store:
      return slot +
             fmt::format("  add.u32 %at, %at, %tiles;\n  st.shared.u32 [%at+{}], %value;\n", 4 * s.word);
    case Kind::load:
      return slot + fmt::format("  add.u32 %at, %at, %tiles;\n  ld.shared.u32 %got, [%at+{}];\n", 4 * s.word);
    case Kind::barrier:
      return "  bar.sync 0;\n";
    case Kind::warp_sync:
      return "  bar.warp.sync %mask;\n";
    case Kind::arrive:
      return "  mbarrier.arrive.shared.b64 _, " + mbarrier + ";\n";
    case Kind::wait:
      return fmt::format(
          "TEST{0}:\n  mbarrier.try_wait.parity.shared.b64 %done, {1}, 0;\n  @!%done bra TEST{0};\n", index,
          mbarrier);
    case Kind::fence:
      return "  fence.proxy.async;\n";
    case Kind::copy:
      return slot +
             fmt::format(
                 "  cvt.u64.u32 %from, %at;\n  add.u64 %from, %from, %rd1;\n  add.u32 %at, %at, %tiles;\n"
                 "  cp.async.ca.shared.global [%at], [%from], {};\n",
                 s.bytes);
    case Kind::commit:
      return "  cp.async.commit_group;\n";
    case Kind::wait_group:
      return fmt::format("  cp.async.wait_group {};\n", s.groups);
    case Kind::copy_arrive:
      return "  cp.async.mbarrier.arrive.noinc.shared.b64 " + mbarrier + ";\n";
    case Kind::store_async:
      return slot + fmt::format(
                        "  add.u32 %at, %at, %tiles;\n  and.b32 %bit, %r1, 16;\n  shr.u32 %bit, %bit, 1;\n"
                        "  add.u32 %bit, %bit, %bars;\n"
                        "  mbarrier.arrive.expect_tx.shared.b64 _, [%bit+{0}], 4;\n"
                        "  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%at+{1}], %value, "
                        "[%bit+{0}];\n",
                        8 * s.mbarrier, 4 * s.word);
    case Kind::bulk:
      return fmt::format(
          "  mbarrier.arrive.expect_tx.shared.b64 _, {0}, {1};\n"
          "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%tiles+{2}], [%rd1], {1}, {0};\n",
          mbarrier, 16 * s.count, 16 * s.first);
  }
  return {};
}

}  // namespace

Program random_program(uint64_t seed) { return Writer(seed).program(); }

std::string ptx_of(const Program& program) {
  std::string out =
      "  .reg .b32 %at, %tiles, %bars, %value, %got, %mask, %bit;\n  .reg .pred %done, %skips, %second;\n"
      "  .reg .b64 %from;\n  mov.u32 %tiles, dynamic;\n"
      "  shl.b32 %at, %r1, 4;\n  add.u32 %at, %at, %tiles;\n  mov.u32 %value, %r1;\n"
      "  st.shared.v4.u32 [%at], {%value, %value, %value, %value};\n  fence.proxy.async;\n";
  out +=
      fmt::format("  add.u32 %bars, %tiles, {};\n  setp.ne.u32 %skips, %r1, 0;\n  @%skips bra INITIALISED;\n",
                  16 * slots);
  for (size_t m = 0; m < program.expected.size(); ++m)
    out += fmt::format("  mbarrier.init.shared.b64 [%bars+{}], {};\n", 8 * m, program.expected[m]);
  out += "INITIALISED:\n  bar.sync 0;\n  setp.ge.u32 %second, %r1, 32;\n";
  for (uint32_t i = 0; i < program.steps.size(); ++i) {
    const Step& s = program.steps[i];
    out += fmt::format(
        "  selp.b32 %mask, {}, {}, %second;\n  and.b32 %bit, %r1, 31;\n  shr.u32 %bit, %mask, %bit;\n"
        "  and.b32 %bit, %bit, 1;\n  setp.eq.u32 %skips, %bit, 0;\n  add.u32 %value, %value, 64;\n  @%skips "
        "bra "
        "NEXT{};\n",
        s.lanes[1], s.lanes[0], i);
    out += instructions(s, i) + fmt::format("NEXT{}:\n", i);
  }
  return out;
}

std::string text_of(const Program& program) {
  constexpr const char* names[] = {"store",       "load",  "barrier",    "warp_sync", "arrive",
                                   "wait",        "fence", "copy",       "commit",    "wait_group",
                                   "copy_arrive", "bulk",  "store_async"};
  std::string out;
  for (const Step& s : program.steps)
    out += fmt::format("{} lanes {:08x} {:08x} flip {} word {} bytes {} groups {} mbarrier {} slots {}+{}\n",
                       names[size_t(s.kind)], s.lanes[0], s.lanes[1], s.flip, s.word, s.bytes, s.groups,
                       s.mbarrier, s.first, s.count);
  return out;
}

}  // namespace palladion::tests::order
