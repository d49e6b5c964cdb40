// Barriers of the CTA and the cluster, and mbarriers (PTX, "Parallel Synchronization and
// Communication Instructions").
#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint CtaBarrier::footprint() const {
  return {.values = Values::combined,
          .control = {id, threads},
          .participants = Participants::cta,
          .order = Order::acq_rel,
          .sync = {.object = Sync::Object::cta_barrier,
                   .arrives = true,
                   .waits = action != BarrierAction::arrive,
                   .operand = id}};
}

Footprint ClusterBarrier::footprint() const {
  return {.participants = Participants::cluster,
          .order = order,
          .scope = Scope::cluster,
          .sync = {.object = Sync::Object::cluster_barrier, .arrives = arrive, .waits = !arrive}};
}

Footprint Mbarrier::footprint() const {
  using A = MbarrierAction;
  return {.control = {count, state, time_hint},
          .order = order,
          .scope = scope,
          .sync = {.object = Sync::Object::mbarrier,
                   .arrives = action == A::arrive,
                   .waits = action == A::test_wait || action == A::try_wait,
                   .initialises = action == A::init,
                   .expects_bytes = expect_tx || action == A::expect_tx,
                   .completes_bytes = action == A::complete_tx,
                   .space = space,
                   .operand = address}};
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

// --- bar, barrier -------------------------------------------------------------------------------------
constexpr Timing barrier_timing{Unit::sync, "barrier"};

CtaBarrier cta_barrier(const Instruction& i, bool aligned) {
  const BarrierAction action = i.has("sync")          ? BarrierAction::sync
                               : i.has("arrive")      ? BarrierAction::arrive
                               : i.has("popc")        ? BarrierAction::red_popc
                               : i.mod("op") == "and" ? BarrierAction::red_and
                                                      : BarrierAction::red_or;
  return CtaBarrier{.action = action,
                    .aligned = aligned,
                    .id = index(i, "a"),
                    .threads = index(i, "b"),
                    .dst = index(i, "d"),
                    .pred = index(i, "c")};
}

Effect barrier(const Instruction& i, const DecodeContext&) { return cta_barrier(i, i.has("aligned")); }
// `bar` is `barrier.aligned`.
Effect bar(const Instruction& i, const DecodeContext&) { return cta_barrier(i, true); }

Effect cluster_barrier(const Instruction& i, const DecodeContext&) {
  const bool arrive = i.has("arrive");
  return ClusterBarrier{.arrive = arrive,
                        .order = decode::order(i, arrive ? Order::release : Order::acquire),
                        .aligned = i.has("aligned")};
}

std::vector<std::string_view> barrier_forms(std::string_view op) {
  const decode::Definition words[] = {{"$barrier", op},
                                      {"$id", "a:u32[0..15: a CTA has 16 named barriers]"},
                                      {"$threads", "u32[0..1024/32: whole warps take part in a barrier]"},
                                      {"$aligned", op.starts_with("bar{") ? "" : "{.aligned}"}};
  return decode::expand({"$barrier.sync$aligned $id, b?:$threads", "$barrier.arrive$aligned $id, b:$threads",
                         "$barrier.red.popc$aligned.u32 =d:u32, $id, c:pred",
                         "$barrier.red.popc$aligned.u32 =d:u32, $id, b:$threads, c:pred",
                         "$barrier.red.op:and|or$aligned.pred =d:pred, $id, c:pred",
                         "$barrier.red.op:and|or$aligned.pred =d:pred, $id, b:$threads, c:pred"},
                        words);
}

// --- mbarrier -------------------------------------------------------------------------------------------
// An order and its scope are named together or not at all; without them arrive releases and wait
// acquires at cta scope.
constexpr decode::Definition words[] = {
    {"$cta", "{.space:shared|shared::cta}"},
    {"$cluster", ".space:shared::cluster"},
    {"$arrive", "<o:;.sem:release.scope:cta|cluster;.sem:relaxed.scope:cta|cluster>"},
    {"$wait", "<o:;.sem:acquire.scope:cta|cluster;.sem:relaxed.scope:cta|cluster>"},
    {"$relaxed", "<o:;.sem:relaxed.scope:cta|cluster>"},
    {"$both", ".action:arrive|arrive_drop"},
};

Timing arrive_timing(const Instruction& i) {
  const bool remote = decode::space(i) == Space::shared_cluster;
  return {Unit::lsu, remote ? "mbarrier_arrive_cluster" : "mbarrier_arrive"};
}

// No space at all: a generic address that points to shared memory of the CTA.
Mbarrier mbarrier(const Instruction& i, MbarrierAction action, Order order) {
  return Mbarrier{.action = action,
                  .space = decode::space(i),
                  .order = decode::order(i, order),
                  .scope = decode::scope(i, Scope::cta),
                  .address = index(i, "a")};
}

Effect init(const Instruction& i, const DecodeContext&) {
  const bool inval = i.mod("action") == "inval";
  Mbarrier e = mbarrier(i, inval ? MbarrierAction::inval : MbarrierAction::init, Order::weak);
  e.count = index(i, "count");
  return e;
}

Effect transactions(const Instruction& i, const DecodeContext&) {
  const bool expect = i.mod("action") == "expect_tx";
  Mbarrier e = mbarrier(i, expect ? MbarrierAction::expect_tx : MbarrierAction::complete_tx, Order::relaxed);
  e.count = index(i, "count");
  return e;
}

Effect arrive(const Instruction& i, const DecodeContext&) {
  Mbarrier e = mbarrier(i, MbarrierAction::arrive, Order::release);
  e.dst = decode::written(i, "state");
  if (e.dst >= 0 && e.space == Space::shared_cluster)
    return decode::unsupported(i, "a remote arrive gives no state: write `_`");
  e.expect_tx = i.has("expect_tx");
  e.drop = i.mod("action") == "arrive_drop";
  e.no_complete = i.has("noComplete");
  e.count = index(i, "count");
  return e;
}

Effect wait(const Instruction& i, const DecodeContext&) {
  const bool test = i.mod("action") == "test_wait";
  Mbarrier e = mbarrier(i, test ? MbarrierAction::test_wait : MbarrierAction::try_wait, Order::acquire);
  e.parity = i.has("parity");
  e.dst = index(i, "complete");
  e.state = index(i, "state");
  e.time_hint = index(i, "hint");
  return e;
}

Effect pending_count(const Instruction& i, const DecodeContext&) {
  return Mbarrier{.action = MbarrierAction::pending_count,
                  .order = Order::weak,
                  .dst = index(i, "count"),
                  .state = index(i, "state")};
}

std::vector<std::string_view> arrive_forms() {
  return decode::expand(
      {"[<o:7.0;8.0;8.6> sm_<o:80;90;90>] mbarrier$both$arrive$cta.b64 =_state:b64, a:mem, count?:u32",
       "[<o:8.0;8.0;8.6> sm_90] mbarrier$both$arrive$cluster.b64 =state:any, a:mem, count?:u32",
       "[<o:8.0;8.0;8.6> sm_90] mbarrier$both.expect_tx$arrive$cta.b64 =_state:b64, a:mem, count:u32",
       "[<o:8.0;8.0;8.6> sm_90] mbarrier$both.expect_tx$arrive$cluster.b64 =state:any, a:mem, count:u32",
       "[7.0 sm_80] mbarrier$both.noComplete<o:;.sem:release.scope:cta>$cta.b64 "
       "=_state:b64, a:mem, count:u32"},
      words);
}

std::vector<std::string_view> wait_forms() {
  return decode::expand({"[<o:7.0;8.0;8.6> sm_<o:80;90;90>] mbarrier.action:test_wait$wait$cta.b64 "
                         "=_complete:pred, a:mem, state:b64",
                         "[<o:7.1;8.0;8.6> sm_<o:80;90;90>] mbarrier.action:test_wait.parity$wait$cta.b64 "
                         "=_complete:pred, a:mem, state:u32",
                         "[<o:7.8;8.0;8.6> sm_90] mbarrier.action:try_wait$wait$cta.b64 =_complete:pred, "
                         "a:mem, state:b64, hint?:u32",
                         "[<o:7.8;8.0;8.6> sm_90] mbarrier.action:try_wait.parity$wait$cta.b64 "
                         "=_complete:pred, a:mem, state:u32, hint?:u32"},
                        words);
}

std::vector<OpDef> barrier_defs() {
  return {
      OpDef{"barrier",
            "Arrives at one of the CTA's 16 barriers and waits (sync, red), or only arrives; red also "
            "reduces a "
            "predicate. Parallel Synchronization and Communication Instructions: bar, barrier.",
            barrier_forms("[6.0 sm_30] barrier{.cta}"), barrier_timing, barrier},
      OpDef{"bar",
            "The same as barrier.aligned. Parallel Synchronization and Communication Instructions: bar, "
            "barrier.",
            barrier_forms("bar{.cta}"), barrier_timing, bar},
      OpDef{"barrier",
            "Marks the arrival of a thread at the barrier of its cluster, or waits for all of them. Parallel "
            "Synchronization and Communication Instructions: barrier.cluster.",
            {"[7.8 sm_90] barrier.cluster.arrive{.sem:release|relaxed}{.aligned}",
             "[7.8 sm_90] barrier.cluster.wait{.sem:acquire}{.aligned}"},
            Timing{Unit::sync, "barrier_cluster"},
            cluster_barrier},
  };
}

std::vector<OpDef> mbarrier_defs() {
  return {
      OpDef{"mbarrier",
            "Makes a barrier object in shared memory with the number of arrivals that complete a phase, or "
            "ends its "
            "life. Parallel Synchronization and Communication Instructions: mbarrier.init, mbarrier.inval.",
            decode::expand({"[7.0 sm_80] mbarrier.action:init$cta.b64 a:mem, count:u32",
                            "[7.0 sm_80] mbarrier.action:inval$cta.b64 a:mem"},
                           words),
            Timing{Unit::lsu, "mbarrier_init"}, init},
      OpDef{"mbarrier",
            "Adds to, or takes from, the transaction bytes that the current phase awaits. Parallel "
            "Synchronization "
            "and Communication Instructions: mbarrier.expect_tx, mbarrier.complete_tx.",
            decode::expand(
                {"[8.0 sm_90] mbarrier.action:expect_tx|complete_tx$relaxed{.space:shared|shared::cta|"
                 "shared::cluster}.b64 a:mem, count:u32"},
                words),
            arrive_timing, transactions},
      OpDef{"mbarrier",
            "Arrives, with expect_tx after adding transaction bytes, with arrive_drop also leaving later "
            "phases; gives "
            "the phase's state unless the barrier is remote. Parallel Synchronization and Communication "
            "Instructions: "
            "mbarrier.arrive, mbarrier.arrive_drop.",
            arrive_forms(), arrive_timing, arrive},
      OpDef{"mbarrier",
            "Whether the phase of a state, or of a parity, has completed; try_wait may suspend the thread "
            "for a while. "
            "Parallel Synchronization and Communication Instructions: mbarrier.test_wait, mbarrier.try_wait.",
            wait_forms(), Timing{Unit::lsu, "mbarrier_wait"}, wait},
      OpDef{"mbarrier",
            "The pending arrivals in a state. Parallel Synchronization and Communication Instructions: "
            "mbarrier.pending_count.",
            {"[7.0 sm_80] mbarrier.action:pending_count.b64 =_count:u32, state:b64"},
            Timing{Unit::alu, "mbarrier_pending_count"},
            pending_count},
  };
}

}  // namespace

std::vector<OpDef> barriers() { return joined({barrier_defs(), mbarrier_defs()}); }

}  // namespace palladion::isa::ops
