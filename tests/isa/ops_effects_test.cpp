// What instructions of control, memory and synchronisation decode to.
#include <set>

#include "tests/isa/effects_fixture.h"

namespace palladion::isa {
namespace {

// --- control ------------------------------------------------------------------------------------------
TEST_F(Effects, control_flow) {
  const Operand label = b_.label("loop");
  EXPECT_FALSE(decode<Branch>("bra", {label}).uniform);
  EXPECT_TRUE(decode<Branch>("bra.uni", {label}).uniform);
  const auto brx = decode<BranchIndexed>("brx.idx", {r, Operand::label(0)});
  EXPECT_EQ(brx.index, 0);
  EXPECT_EQ(brx.targets, 1);
  const auto call = decode<Call>("call.uni", {many(r, 1), Operand::symbol(0), many(r, 2)});
  EXPECT_EQ(call.function, 1);
  EXPECT_EQ(call.returns, 0);
  EXPECT_EQ(call.arguments, 2);
  EXPECT_EQ(decode<Nanosleep>("nanosleep.u32", {imm(100)}).duration, 0);
  EXPECT_FALSE(decode<Trap>("trap").breakpoint);
  EXPECT_TRUE(decode<Trap>("brkpt").breakpoint);
  decode<Exit>("exit");
  decode<Return>("ret.uni");
}

// --- memory -------------------------------------------------------------------------------------------
TEST_F(Effects, loads_say_space_type_and_shape) {
  const auto vector = decode<Load>("ld.global.v4.f32", {many(f, 4), mem(rd)});
  EXPECT_EQ(vector.space, Space::global);
  EXPECT_EQ(vector.type, Type::f32);
  EXPECT_EQ(vector.elements, 4);
  EXPECT_EQ(vector.order, Order::weak);
  EXPECT_EQ(vector.address, 1);
  EXPECT_EQ(decode<Load>("ld.b64", {rd, mem(rd2)}).space, Space::generic);
  EXPECT_EQ(decode<Load>("ld.param::entry.u32", {r, mem(rd)}).space, Space::param);
  EXPECT_EQ(decode<Load>("ld.shared::cluster.u32", {r, mem(r)}).space, Space::shared_cluster);
  EXPECT_EQ(decode<Load>("ld.shared.u32", {r, mem(r)}).space, Space::shared_cta);
  EXPECT_EQ(decode<Load>("ld.const.b128", {q, mem(rd)}).type, Type::b128);
}

TEST_F(Effects, loads_say_their_order) {
  const auto acquire = decode<Load>("ld.acquire.gpu.global.u32", {r, mem(rd)});
  EXPECT_EQ(acquire.order, Order::acquire);
  EXPECT_EQ(acquire.scope, Scope::gpu);
  const auto space_first = decode<Load>("ld.global.acquire.gpu.b32", {r, mem(rd)});
  EXPECT_EQ(space_first.order, Order::acquire);
  EXPECT_EQ(space_first.space, Space::global);
  const auto plain = decode<Load>("ld.volatile.shared.u32", {r, mem(r)});
  EXPECT_EQ(plain.order, Order::volatile_);
  EXPECT_EQ(plain.scope, Scope::sys);
  EXPECT_EQ(decode<Load>("ld.mmio.relaxed.sys.global.u32", {r, mem(rd)}).order, Order::mmio);
  EXPECT_EQ(decode<Load>("ld.volatile.local.u32", {r, mem(rd)}).order, Order::weak) << "the thread's alone";
  EXPECT_EQ(decode<Store>("st.local.volatile.u32", {mem(rd), r}).space, Space::local);
}

TEST_F(Effects, hints_change_nothing) {
  const auto hinted =
      decode<Load>("ld.global.L1::no_allocate.L2::cache_hint.L2::128B.v2.b32", {many(r, 2), mem(rd), rd2});
  EXPECT_EQ(hinted.elements, 2);
  EXPECT_EQ(hinted.order, Order::weak);
  EXPECT_TRUE(
      decode<Load>("ld.global.nc.L1::no_allocate.L2::256B.v4.f32", {many(f, 4), mem(rd)}).non_coherent);
  EXPECT_EQ(decode<Prefetch>("prefetch.global.L2::evict_last", {mem(rd)}).address, 0);
  decode<Prefetch>("prefetch.tensormap", {mem(rd)});
  decode<Prefetch>("prefetchu.L1", {mem(rd)});
  decode<Prefetch>("discard.global.L2", {mem(rd), imm(128)});
  decode<Prefetch>("applypriority.global.L2::evict_normal", {mem(rd), imm(128)});
  EXPECT_EQ(decode<Prefetch>("pmevent", {imm(1)}).address, -1);
}

TEST_F(Effects, stores) {
  const auto release = decode<Store>("st.release.cluster.shared::cluster.v2.b64", {mem(rd), many(rd2, 2)});
  EXPECT_EQ(release.order, Order::release);
  EXPECT_EQ(release.scope, Scope::cluster);
  EXPECT_EQ(release.space, Space::shared_cluster);
  EXPECT_EQ(release.elements, 2);
  EXPECT_EQ(release.address, 0);
  EXPECT_EQ(release.src, 1);
  EXPECT_EQ(decode<Store>("st.global.cs.u8", {mem(rd), r}).type, Type::u8);
}

TEST_F(Effects, wide_accesses_are_later_chips) {
  EXPECT_EQ(reason("ld.global.v8.b32", {many(r, 8), mem(rd)}),
            "`ld.global.v8.b32`: 256-bit accesses begin with sm_100");
  EXPECT_NE(reason("st.global.v4.b64", {mem(rd), many(rd2, 4)}), "");
}

TEST_F(Effects, policies_are_values) {
  const auto policy = [&](std::string_view words) {
    uint64_t lanes[32] = {};
    const auto pure = decode<Pure>(words, {rd, Operand::f32(0x3F800000)});
    const std::vector<uint64_t> constant(32, pure.constant.value());
    pure.fn({{lanes}, {constant.data()}, ~0U});
    EXPECT_EQ(lanes[0], lanes[31]);
    return lanes[7];
  };
  EXPECT_EQ(policy("createpolicy.fractional.L2::evict_first.b64"), 0x12F0000000000000U);
  EXPECT_EQ(policy("createpolicy.fractional.L2::evict_last.b64"), 0x14F0000000000000U);
}

TEST_F(Effects, addresses) {
  const auto to = decode<ConvertAddress>("cvta.to.global.u64", {rd, rd2});
  EXPECT_FALSE(to.to_generic);
  EXPECT_EQ(to.space, Space::global);
  EXPECT_TRUE(decode<ConvertAddress>("cvta.shared::cluster.u64", {rd, rd2}).to_generic);
  EXPECT_EQ(decode<IsSpace>("isspacep.shared::cta", {p, rd}).space, Space::shared_cta);
  const auto mapa = decode<MapShared>("mapa.shared::cluster.u32", {r, r2, imm(1)});
  EXPECT_FALSE(mapa.generic);
  EXPECT_EQ(mapa.type, Type::u32);
  EXPECT_EQ(mapa.rank, 2);
  EXPECT_TRUE(decode<MapShared>("mapa.u64", {rd, rd2, r}).generic);
  EXPECT_TRUE(decode<GetCtaRank>("getctarank.u64", {r, rd}).generic);
}

// --- atomics ------------------------------------------------------------------------------------------
TEST_F(Effects, atomics_default_to_relaxed_gpu) {
  const auto add = decode<Atomic>("atom.global.add.u32", {r, mem(rd), r2});
  EXPECT_EQ(add.op, AtomicOp::add);
  EXPECT_EQ(add.order, Order::relaxed);
  EXPECT_EQ(add.scope, Scope::gpu);
  EXPECT_EQ(add.dst, 0);
  EXPECT_EQ(add.b, 2);
  EXPECT_EQ(add.c, -1);
  EXPECT_EQ(decode<Atomic>("atom.global.add.u32", {none, mem(rd), r2}).dst, -1);
  const auto red = decode<Atomic>("red.release.sys.global.max.s64", {mem(rd), rd2});
  EXPECT_EQ(red.dst, -1);
  EXPECT_EQ(red.address, 0);
  EXPECT_EQ(red.b, 1);
  EXPECT_EQ(red.order, Order::release);
  EXPECT_EQ(red.scope, Scope::sys);
}

TEST_F(Effects, atomics_of_every_width) {
  const auto cas = decode<Atomic>("atom.acq_rel.cluster.shared::cluster.cas.b128", {q, mem(rd), q, q});
  EXPECT_EQ(cas.op, AtomicOp::cas);
  EXPECT_EQ(cas.type, Type::b128);
  EXPECT_EQ(cas.order, Order::acq_rel);
  EXPECT_EQ(cas.c, 3);
  const auto halves = decode<Atomic>("atom.global.max.noftz.v4.bf16x2", {many(r, 4), mem(rd), many(r2, 4)});
  EXPECT_TRUE(halves.noftz);
  EXPECT_EQ(halves.elements, 4);
  EXPECT_EQ(halves.type, Type::bf16x2);
  const auto late = decode<Atomic>("atom.add.acq_rel.sys.f64", {rd, mem(rd), rd2});  // as libcu++ writes it
  EXPECT_EQ(late.order, Order::acq_rel);
  EXPECT_EQ(late.scope, Scope::sys);
  EXPECT_EQ(late.space, Space::generic);
  const auto hinted = decode<Atomic>("red.global.add.L2::cache_hint.v2.f32", {mem(rd), many(f, 2), rd2});
  EXPECT_EQ(hinted.b, 1);
  EXPECT_EQ(hinted.c, -1);
}

const Form* form_of(std::string_view words, size_t operands) {
  return match(words, std::vector<Operand>(operands)).form;
}

TEST_F(Effects, what_ptx_forbids_has_no_form) {
  EXPECT_EQ(form_of("atom.global.exch.u32", 3), nullptr);
  EXPECT_EQ(form_of("atom.shared.add.L2::cache_hint.u32", 4), nullptr);
  EXPECT_EQ(form_of("ld.relaxed.global.u32", 2), nullptr);
  EXPECT_EQ(form_of("ld.weak.v4.b128", 2), nullptr);
  EXPECT_EQ(form_of("mbarrier.arrive.release.b64", 2), nullptr);
  EXPECT_EQ(form_of("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8", 4), nullptr);
  EXPECT_EQ(form_of("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes", 4),
            nullptr);
}

TEST_F(Effects, the_form_is_that_of_the_operands) {
  const std::string_view words = "tcgen05.mma.cta_group::1.kind::f16";
  const Operand value = Operand::reg(0), in_tensor_memory = Operand::address(value, 0);
  const auto a_of = [&](const Operand& a) {
    return match(words, std::vector<Operand>{in_tensor_memory, a, value, value, value})
        .form->operands[1]
        .kind;
  };
  EXPECT_EQ(a_of(value), OperandKind::value);
  EXPECT_EQ(a_of(in_tensor_memory), OperandKind::address);
}

TEST_F(Effects, fences) {
  const auto sc = decode<Fence>("fence.sc.cluster");
  EXPECT_EQ(sc.order, Order::sc);
  EXPECT_EQ(sc.scope, Scope::cluster);
  EXPECT_FALSE(sc.proxy);
  EXPECT_EQ(decode<Fence>("fence.gpu").order, Order::acq_rel);
  const auto gl = decode<Fence>("membar.gl");
  EXPECT_EQ(gl.order, Order::sc);
  EXPECT_EQ(gl.scope, Scope::gpu);
  EXPECT_TRUE(decode<Fence>("fence.mbarrier_init.release.cluster").mbarrier_init);
  EXPECT_EQ(decode<Fence>("fence.acquire.sync_restrict::shared::cluster.cluster").window,
            Space::shared_cluster);
}

TEST_F(Effects, proxy_fences) {
  const auto async = decode<Fence>("fence.proxy.async.shared::cta");
  EXPECT_TRUE(async.proxy);
  EXPECT_EQ(async.to, Proxy::async);
  EXPECT_EQ(async.window, Space::shared_cta);
  EXPECT_EQ(decode<Fence>("fence.proxy.async").window, Space::generic);
  EXPECT_TRUE(decode<Fence>("fence.proxy.alias").alias);
  const auto map = decode<Fence>("fence.proxy.tensormap::generic.acquire.sys", {mem(rd), imm(128)});
  EXPECT_EQ(map.to, Proxy::tensormap);
  EXPECT_EQ(map.order, Order::acquire);
  EXPECT_EQ(map.scope, Scope::sys);
  EXPECT_EQ(map.address, 0);
  EXPECT_EQ(map.size, 1);
  const auto one_way = decode<Fence>("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster");
  EXPECT_EQ(one_way.to, Proxy::async);
  EXPECT_EQ(one_way.order, Order::release);
  EXPECT_EQ(one_way.window, Space::shared_cta);
}

// --- warp ---------------------------------------------------------------------------------------------
TEST_F(Effects, shuffles_and_votes) {
  const auto plain = decode<Shuffle>("shfl.sync.bfly.b32", {r, r2, imm(16), imm(31), imm(-1)});
  EXPECT_EQ(plain.mode, ShuffleMode::bfly);
  EXPECT_EQ(plain.in_range, -1);
  EXPECT_EQ(plain.members, 4);
  const auto checked = decode<Shuffle>("shfl.sync.up.b32", {r, second(p), r2, imm(1), imm(0), imm(-1)});
  EXPECT_EQ(checked.in_range, 1);
  EXPECT_EQ(checked.value, 2);
  EXPECT_EQ(checked.members, 5);
  EXPECT_NE(reason("shfl.idx.b32", {r, r2, imm(0), imm(31)}).find("use .sync"), std::string::npos);
  EXPECT_EQ(decode<Vote>("vote.sync.ballot.b32", {r, p, imm(-1)}).mode, VoteMode::ballot);
  EXPECT_EQ(decode<Vote>("vote.sync.uni.pred", {p, p2, imm(-1)}).mode, VoteMode::uni);
  const auto all = decode<Match>("match.all.sync.b64", {r, second(p), rd, imm(-1)});
  EXPECT_TRUE(all.all);
  EXPECT_EQ(all.pred, 1);
  EXPECT_EQ(all.type, Type::b64);
  EXPECT_EQ(decode<Match>("match.any.sync.b32", {r, r2, imm(-1)}).pred, -1);
  const auto redux = decode<Redux>("redux.sync.min.s32", {r, r2, imm(-1)});
  EXPECT_EQ(redux.op, ReduxOp::min);
  EXPECT_EQ(redux.type, Type::s32);
  EXPECT_EQ(decode<Elect>("elect.sync", {none, second(p), imm(-1)}).dst, -1);
  EXPECT_EQ(decode<WarpSync>("bar.warp.sync", {imm(-1)}).members, 0);
  EXPECT_EQ(decode<ActiveMask>("activemask.b32", {r}).dst, 0);
}

TEST_F(Effects, matrices_of_eight) {
  const auto load =
      decode<LoadMatrix>("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", {many(r, 4), mem(r)});
  EXPECT_EQ(load.count, 4);
  EXPECT_TRUE(load.transposed);
  EXPECT_EQ(load.space, Space::shared_cta);
  EXPECT_EQ(decode<LoadMatrix>("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16", {many(r, 2), mem(r)}).count,
            2);
  EXPECT_EQ(decode<LoadMatrix>("ldmatrix.sync.aligned.m8n8.x1.b16", {many(r, 1), mem(rd)}).count, 1);
  const auto store =
      decode<StoreMatrix>("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16", {mem(r), many(r, 2)});
  EXPECT_EQ(store.address, 0);
  EXPECT_EQ(store.src, 1);
  EXPECT_EQ(store.count, 2);
  decode<MoveMatrix>("movmatrix.sync.aligned.m8n8.trans.b16", {r, r2});
}

// --- barriers -----------------------------------------------------------------------------------------
TEST_F(Effects, cta_and_cluster_barriers) {
  const auto bar = decode<CtaBarrier>("bar.sync", {imm(1), imm(128)});
  EXPECT_EQ(bar.action, BarrierAction::sync);
  EXPECT_TRUE(bar.aligned);
  EXPECT_EQ(bar.id, 0);
  EXPECT_EQ(bar.threads, 1);
  const auto arrive = decode<CtaBarrier>("barrier.cta.arrive", {r, r2});
  EXPECT_EQ(arrive.action, BarrierAction::arrive);
  EXPECT_FALSE(arrive.aligned);
  const auto red = decode<CtaBarrier>("barrier.red.or.aligned.pred", {p, imm(2), p2});
  EXPECT_EQ(red.action, BarrierAction::red_or);
  EXPECT_EQ(red.dst, 0);
  EXPECT_EQ(red.id, 1);
  EXPECT_EQ(red.threads, -1);
  EXPECT_EQ(red.pred, 2);
  EXPECT_EQ(decode<CtaBarrier>("bar.red.popc.u32", {r, imm(2), imm(64), p}).pred, 3);
  const auto cluster = decode<ClusterBarrier>("barrier.cluster.arrive.relaxed.aligned");
  EXPECT_EQ(cluster.order, Order::relaxed);
  EXPECT_TRUE(cluster.aligned);
  const auto wait = decode<ClusterBarrier>("barrier.cluster.wait");
  EXPECT_FALSE(wait.arrive);
  EXPECT_EQ(wait.order, Order::acquire);
}

TEST_F(Effects, mbarrier_arrivals) {
  const auto init = decode<Mbarrier>("mbarrier.init.shared::cta.b64", {mem(r), imm(2)});
  EXPECT_EQ(init.action, MbarrierAction::init);
  EXPECT_EQ(init.count, 1);
  const auto local = decode<Mbarrier>("mbarrier.arrive.shared.b64", {rd, mem(r)});
  EXPECT_EQ(local.action, MbarrierAction::arrive);
  EXPECT_EQ(local.dst, 0);
  EXPECT_EQ(local.count, -1);
  EXPECT_EQ(local.order, Order::release);
  EXPECT_EQ(local.scope, Scope::cta);
  const auto remote =
      decode<Mbarrier>("mbarrier.arrive.release.cluster.shared::cluster.b64", {none, mem(r), imm(3)});
  EXPECT_EQ(remote.dst, -1);
  EXPECT_EQ(remote.space, Space::shared_cluster);
  EXPECT_EQ(remote.scope, Scope::cluster);
  EXPECT_EQ(remote.count, 2);
  EXPECT_NE(reason("mbarrier.arrive.shared::cluster.b64", {rd, mem(r)}).find("write `_`"), std::string::npos);
  const auto expect =
      decode<Mbarrier>("mbarrier.arrive.expect_tx.shared::cta.b64", {none, mem(r), imm(4096)});
  EXPECT_TRUE(expect.expect_tx);
  EXPECT_EQ(expect.count, 2);
  EXPECT_TRUE(decode<Mbarrier>("mbarrier.arrive_drop.shared.b64", {rd, mem(r)}).drop);
  EXPECT_TRUE(decode<Mbarrier>("mbarrier.arrive.noComplete.release.cta.shared.b64", {rd, mem(r), imm(1)})
                  .no_complete);
  const auto bytes = decode<Mbarrier>("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64", {mem(r), r2});
  EXPECT_EQ(bytes.action, MbarrierAction::expect_tx);
  EXPECT_EQ(bytes.order, Order::relaxed);
  EXPECT_EQ(bytes.count, 1);
}

TEST_F(Effects, mbarrier_waits) {
  const auto parity =
      decode<Mbarrier>("mbarrier.try_wait.parity.shared::cta.b64", {p, mem(r), r2, imm(1000)});
  EXPECT_EQ(parity.action, MbarrierAction::try_wait);
  EXPECT_TRUE(parity.parity);
  EXPECT_EQ(parity.order, Order::acquire);
  EXPECT_EQ(parity.dst, 0);
  EXPECT_EQ(parity.state, 2);
  EXPECT_EQ(parity.time_hint, 3);
  const auto state = decode<Mbarrier>("mbarrier.test_wait.relaxed.cluster.shared.b64", {p, mem(r), rd});
  EXPECT_EQ(state.action, MbarrierAction::test_wait);
  EXPECT_FALSE(state.parity);
  EXPECT_EQ(state.order, Order::relaxed);
  EXPECT_EQ(state.time_hint, -1);
  const auto pending = decode<Mbarrier>("mbarrier.pending_count.b64", {r, rd});
  EXPECT_EQ(pending.dst, 0);
  EXPECT_EQ(pending.state, 1);
  EXPECT_EQ(pending.address, -1);
}

// No text may make decoding fail: every form, every word, operands of some kind.
TEST_F(Effects, every_form_decodes) {
  std::set<const OpDef*> mine;
  for (const char* name : {"control", "memory", "atomics", "warp", "barriers", "async_copies",
                           "tensor_copies", "matrix", "textures", "system"})
    for (const OpDef& def : family(name)) mine.insert(&def);
  const auto decode_all = [&](const Op& op, const Form& form, const std::vector<Operand>& operands) {
    Instruction i;
    i.op = &op;
    i.form = &form;
    i.operands = operands;
    for (size_t slot = 0; slot < form.slots.size(); ++slot) {
      for (int word = form.slots[slot].optional ? -1 : 0;
           word < static_cast<int>(form.slots[slot].words.size()); ++word) {
        for (size_t s = 0; s < form.slots.size(); ++s) i.mods[s] = form.slots[s].optional ? -1 : 0;
        i.mods[slot] = static_cast<int8_t>(word);
        const Effect e = effect(i, {module_, function_, default_arch()});
        EXPECT_FALSE(timing(i).latency.empty()) << form.text;
        if (const auto* u = std::get_if<Unsupported>(&e)) {
          EXPECT_TRUE(u->reason.starts_with("`" + std::string(op.name))) << u->reason;
        }
      }
    }
  };
  size_t forms = 0;
  for (const Op& op : all_ops()) {
    for (const Form& form : op.forms) {
      if (!mine.contains(form.def)) continue;
      ++forms;
      decode_all(op, form, std::vector<Operand>(form.required_operands(), r));
      decode_all(op, form, std::vector<Operand>(form.operands.size(), many(r, 4)));
      decode_all(op, form, std::vector<Operand>(form.operands.size(), none));
    }
  }
  EXPECT_GT(forms, 400U);
}

}  // namespace
}  // namespace palladion::isa
