// What instructions touch, by the generic questions that checkers, clock and lowering ask.
#include "isa/core/footprint.h"

#include "tests/isa/effects_fixture.h"

namespace palladion::isa {
namespace {

using Object = Sync::Object;

class Footprints : public Effects {
 protected:
  Footprint of(std::string_view mnemonic, std::vector<Operand> operands = {}) {
    return footprint(any(mnemonic, std::move(operands)));
  }
};

TEST_F(Footprints, arithmetic_stays_in_registers) {
  for (const Footprint& one :
       {of("add.s32", {r, r, r}), of("rcp.approx.f32", {f, f}), of("cvta.to.global.u64", {rd, rd}),
        of("mapa.shared::cluster.u32", {r, r, r})}) {
    EXPECT_EQ(one.values, Values::lane_wise);
    EXPECT_TRUE(one.registers_only());
    EXPECT_TRUE(one.memory.empty());
  }
  EXPECT_TRUE(of("add.cc.u32", {r, r, r}).writes_carry);
  EXPECT_TRUE(of("addc.u32", {r, r, r}).reads_carry);
}

TEST_F(Footprints, control_leaves_or_goes_elsewhere) {
  EXPECT_EQ(of("bra", {b_.label("x")}).next, Control::branches);
  EXPECT_TRUE(of("brx.idx", {r, Operand::label(0)}).control.has(0));
  EXPECT_TRUE(of("exit").ends());
  EXPECT_TRUE(of("ret").ends());
  EXPECT_TRUE(of("exit").registers_only());
  EXPECT_FALSE(of("trap").registers_only());
  EXPECT_FALSE(of("call.uni", {many(r, 1), Operand::symbol(0), many(r, 2)}).registers_only());
}

TEST_F(Footprints, loads_and_stores_state_space_bytes_and_address) {
  const Footprint load = of("ld.global.v4.f32", {many(f, 4), mem(rd)});
  ASSERT_NE(load.read(), nullptr);
  EXPECT_EQ(load.read()->bytes, 16U);
  EXPECT_EQ(load.read()->address, 1);
  EXPECT_TRUE(load.reads(Space::global));
  EXPECT_FALSE(load.reads(Space::shared_cta));
  EXPECT_FALSE(load.writes_memory());
  EXPECT_TRUE(of("ld.b64", {rd, mem(rd2)}).reads(Space::shared_cta)) << "a generic address may be any";
  EXPECT_FALSE(of("ld.b64", {rd, mem(rd2)}).reads(Space::tensor)) << "but none of tensor memory";
  const Footprint store = of("st.shared.u64", {mem(r), rd});
  EXPECT_EQ(store.values, Values::stored);
  EXPECT_TRUE(store.writes(Space::shared_cta));
  EXPECT_EQ(store.written()->bytes, 8U);
  EXPECT_TRUE(of("ld.param.u32", {r, mem(rd)}).registers_only());
  EXPECT_FALSE(of("ld.local.u32", {r, mem(r)}).registers_only());
  EXPECT_TRUE(of("prefetch.global.L2", {mem(rd)}).registers_only());
  EXPECT_TRUE(of("prefetch.global.L2", {mem(rd)}).hint);
}

TEST_F(Footprints, orders) {
  EXPECT_TRUE(of("ld.acquire.gpu.global.u32", {r, mem(rd)}).acquires());
  EXPECT_FALSE(of("ld.relaxed.gpu.global.u32", {r, mem(rd)}).acquires());
  EXPECT_TRUE(of("st.release.gpu.global.u32", {mem(rd), r}).releases());
  const Footprint both = of("atom.acq_rel.gpu.global.add.u32", {r, mem(rd), r});
  EXPECT_TRUE(both.acquires() && both.releases());
  EXPECT_TRUE(both.read()->modifies());
  EXPECT_TRUE(of("fence.acq_rel.gpu").acquires());
  EXPECT_FALSE(of("fence.proxy.async").acquires()) << "orders proxies";
  EXPECT_FALSE(of("fence.mbarrier_init.release.cluster").acquires());
  EXPECT_TRUE(of("barrier.cluster.arrive").releases());
  EXPECT_FALSE(of("barrier.cluster.arrive.relaxed").releases());
  EXPECT_TRUE(of("barrier.cluster.wait").acquires());
  EXPECT_EQ(of("barrier.cluster.wait").scope, Scope::cluster);
}

TEST_F(Footprints, warps_exchange_values_among_members) {
  const Footprint shuffle = of("shfl.sync.bfly.b32", {r, second(p), r, r, r, r2});
  EXPECT_EQ(shuffle.values, Values::combined);
  EXPECT_EQ(shuffle.participants, Participants::warp);
  EXPECT_EQ(shuffle.members, 5);
  EXPECT_TRUE(shuffle.control.has(5));
  EXPECT_FALSE(shuffle.control.has(2)) << "the value is data";
  EXPECT_TRUE(shuffle.registers_only());
  EXPECT_EQ(of("elect.sync", {r, second(p), imm(-1)}).values, Values::none);
  EXPECT_EQ(of("activemask.b32", {r}).participants, Participants::lanes);
}

TEST_F(Footprints, matrices_of_a_warp_take_rows_from_some_lanes) {
  const Footprint two = of("ldmatrix.sync.aligned.m8n8.x2.shared.b16", {many(r, 2), mem(r)});
  EXPECT_EQ(two.read()->lanes, 0xffffU);
  EXPECT_EQ(two.read()->bytes, 16U);
  EXPECT_EQ(two.values, Values::tensor);
  const Footprint four = of("stmatrix.sync.aligned.m8n8.x4.shared.b16", {mem(r), many(r, 4)});
  EXPECT_EQ(four.written()->lanes, ~0U);
}

TEST_F(Footprints, barriers) {
  const Footprint sync = of("bar.sync", {r, r2});
  EXPECT_TRUE(sync.at(Object::cta_barrier) && sync.sync.arrives && sync.sync.waits);
  EXPECT_TRUE(sync.control.has(0) && sync.control.has(1));
  EXPECT_FALSE(of("bar.arrive", {r, r2}).sync.waits);
  const Footprint init = of("mbarrier.init.shared.b64", {mem(r), r2});
  EXPECT_TRUE(init.sync.initialises);
  EXPECT_FALSE(init.signals_mbarrier());
  const Footprint arrive = of("mbarrier.arrive.expect_tx.shared.b64", {none, mem(r), r2});
  EXPECT_TRUE(arrive.signals_mbarrier() && arrive.sync.expects_bytes && arrive.releases());
  EXPECT_EQ(arrive.sync.operand, 1);
  const Footprint wait = of("mbarrier.try_wait.parity.shared.b64", {p, mem(r), r2});
  EXPECT_TRUE(wait.waits_for_mbarrier() && wait.acquires());
  EXPECT_TRUE(wait.control.has(2));
  EXPECT_FALSE(wait.registers_only());
}

TEST_F(Footprints, asynchronous_copies) {
  const Footprint cp = of("cp.async.ca.shared.global", {mem(r), mem(rd), imm(16), r2});
  EXPECT_TRUE(cp.issues(AsyncFamily::cp_async));
  EXPECT_TRUE(cp.reads(Space::global) && cp.writes(Space::shared_cta));
  EXPECT_FALSE(cp.uses(Proxy::async));
  EXPECT_TRUE(of("cp.async.wait_group", {imm(2)}).waits_for_group());
  EXPECT_EQ(of("cp.async.wait_all").async.groups_left, 0);
  const Footprint load = of("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
                            {mem(r), tensor(2), mem(r2)});
  EXPECT_TRUE(load.issues(AsyncFamily::tensor) && load.signals_mbarrier());
  EXPECT_EQ(load.async.mbarrier, 2);
  EXPECT_EQ(load.async.group, AsyncGroup::none);
  EXPECT_TRUE(load.reads(Space::global) && load.writes(Space::shared_cluster));
  EXPECT_TRUE(load.uses(Proxy::async) && load.uses(Proxy::tensormap));
  const Footprint store =
      of("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group", {tensor(3), mem(r)});
  EXPECT_EQ(store.async.group, AsyncGroup::bulk);
  EXPECT_TRUE(store.reads(Space::shared_cta) && store.writes(Space::global));
  EXPECT_FALSE(of("cp.async.bulk.prefetch.L2.global", {mem(rd), r}).writes_memory());
  EXPECT_FALSE(of("cp.async.bulk.prefetch.tensor.2d.L2.global.tile", {tensor(2)}).writes_memory());
  EXPECT_TRUE(of("cp.async.bulk.wait_group.read", {imm(1)}).async.reads_only);
  EXPECT_TRUE(of("cp.async.mbarrier.arrive.shared.b64", {mem(r)}).signals_mbarrier());
}

TEST_F(Footprints, wgmma_takes_descriptors_and_scale_as_control) {
  const Footprint f16 = of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
                           {many(f, 4), rd, rd2, p, imm(1), imm(1), imm(0), imm(0)});
  EXPECT_TRUE(f16.issues(AsyncFamily::wgmma));
  EXPECT_EQ(f16.participants, Participants::warpgroup);
  EXPECT_TRUE(f16.control.has(1) && f16.control.has(2) && f16.control.has(3));
  EXPECT_FALSE(f16.control.has(0));
  EXPECT_EQ(f16.products, 64U * 8 * 16);
  EXPECT_TRUE(f16.reads(Space::shared_cta));
  EXPECT_FALSE(f16.writes_memory());
  EXPECT_TRUE(of("wgmma.commit_group.sync.aligned").commits_group());
  EXPECT_EQ(of("wgmma.wait_group.sync.aligned", {imm(1)}).async.groups_left, 1);
}

TEST_F(Footprints, tensor_maps_are_no_data) {
  const Footprint replace = of("tensormap.replace.tile.global_address.global.b1024.b64", {mem(rd), rd2});
  EXPECT_EQ(replace.written()->content, Content::tensor_map);
  EXPECT_TRUE(replace.control.has(1));
  EXPECT_EQ(replace.values, Values::none);
}

TEST_F(Footprints, registers_of_the_pool_are_given_back_or_waited_for) {
  EXPECT_TRUE(of("setmaxnreg.dec.sync.aligned.u32", {imm(40)}).sync.arrives);
  EXPECT_TRUE(of("setmaxnreg.inc.sync.aligned.u32", {imm(40)}).sync.waits);
}

}  // namespace
}  // namespace palladion::isa
