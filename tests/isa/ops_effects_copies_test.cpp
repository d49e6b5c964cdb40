// What instructions of copies, matrices and the system decode to.
#include "tests/isa/effects_fixture.h"

namespace palladion::isa {
namespace {

// --- copies -------------------------------------------------------------------------------------------
TEST_F(Effects, cp_async_tells_sizes_from_predicates) {
  const auto size = decode<CpAsync>("cp.async.ca.shared.global", {mem(r), mem(rd), imm(8), r2});
  EXPECT_EQ(size.bytes, 8);
  EXPECT_EQ(size.src_size, 3);
  EXPECT_EQ(size.ignore_src, -1);
  const auto ignore = decode<CpAsync>("cp.async.cg.shared::cta.global.L2::cache_hint.L2::128B",
                                      {mem(r), mem(rd), imm(16), p, rd2});
  EXPECT_EQ(ignore.src_size, -1);
  EXPECT_EQ(ignore.ignore_src, 3);
  const auto plain =
      decode<CpAsync>("cp.async.cg.shared::cta.global.L2::cache_hint", {mem(r), mem(rd), imm(16), rd2});
  EXPECT_EQ(plain.src_size, -1);
  decode<CpAsyncCommit>("cp.async.commit_group");
  EXPECT_EQ(decode<CpAsyncWait>("cp.async.wait_group", {imm(2)}).n, 2);
  EXPECT_TRUE(decode<CpAsyncWait>("cp.async.wait_all").all);
  EXPECT_TRUE(
      decode<CpAsyncMbarrierArrive>("cp.async.mbarrier.arrive.noinc.shared::cta.b64", {mem(r)}).noinc);
}

TEST_F(Effects, bulk_copies) {
  const auto in = decode<BulkCopy>(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint",
      {mem(r), mem(rd), r2, mem(r), h, rd2});
  EXPECT_EQ(in.dst_space, Space::shared_cluster);
  EXPECT_EQ(in.src_space, Space::global);
  EXPECT_EQ(in.completion, Completion::mbarrier);
  EXPECT_EQ(in.mbar, 3);
  EXPECT_EQ(in.cta_mask, 4);
  const auto out =
      decode<BulkCopy>("cp.async.bulk.global.shared::cta.bulk_group", {mem(rd), mem(r), imm(256)});
  EXPECT_EQ(out.completion, Completion::bulk_group);
  EXPECT_EQ(out.mbar, -1);
  EXPECT_EQ(out.op, BulkOp::copy);
  const auto add = decode<BulkCopy>("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16",
                                    {mem(rd), mem(r), r2});
  EXPECT_EQ(add.op, BulkOp::add);
  EXPECT_EQ(add.type, Type::bf16);
  EXPECT_TRUE(add.noftz);
  EXPECT_TRUE(decode<BulkCopy>("cp.async.bulk.prefetch.L2.global", {mem(rd), r}).prefetch);
  decode<BulkCommit>("cp.async.bulk.commit_group");
  const auto wait = decode<BulkWait>("cp.async.bulk.wait_group.read", {imm(1)});
  EXPECT_TRUE(wait.read);
  EXPECT_EQ(wait.n, 1);
}

TEST_F(Effects, tensor_copies) {
  const auto load =
      decode<TensorCopy>("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
                         {mem(r), tensor(2), mem(r)});
  EXPECT_EQ(load.rank, 2);
  EXPECT_TRUE(load.load);
  EXPECT_EQ(load.shared, 0);
  EXPECT_EQ(load.tensor, 1);
  EXPECT_EQ(load.mbar, 2);
  EXPECT_EQ(load.cta_mask, -1);
  const auto image = decode<TensorCopy>(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster",
      {mem(r), tensor(4), mem(r), many(h, 2), h});
  EXPECT_EQ(image.mode, TensorMode::im2col);
  EXPECT_EQ(image.im2col_offsets, 3);
  EXPECT_EQ(image.cta_mask, 4);
  const auto store =
      decode<TensorCopy>("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group", {tensor(3), mem(r)});
  EXPECT_FALSE(store.load);
  EXPECT_EQ(store.tensor, 0);
  EXPECT_EQ(store.shared, 1);
  EXPECT_EQ(store.completion, Completion::bulk_group);
  EXPECT_EQ(decode<TensorCopy>("cp.reduce.async.bulk.tensor.1d.global.shared::cta.min.bulk_group",
                               {tensor(1), mem(r)})
                .op,
            BulkOp::min);
  const auto prefetch = decode<TensorCopy>("cp.async.bulk.prefetch.tensor.5d.L2.global.tile", {tensor(5)});
  EXPECT_TRUE(prefetch.prefetch);
  EXPECT_EQ(prefetch.shared, -1);
}

TEST_F(Effects, tensor_maps) {
  const auto dim = decode<TensormapReplace>("tensormap.replace.tile.global_dim.shared::cta.b1024.b32",
                                            {mem(r), imm(1), r2});
  EXPECT_EQ(dim.field, TensorMapField::global_dim);
  EXPECT_EQ(dim.ordinal, 1);
  EXPECT_EQ(dim.value, 2);
  const auto base =
      decode<TensormapReplace>("tensormap.replace.tile.global_address.global.b1024.b64", {mem(rd), rd2});
  EXPECT_EQ(base.field, TensorMapField::global_address);
  EXPECT_EQ(base.type, Type::b64);
  EXPECT_EQ(base.ordinal, -1);
  const auto publish =
      decode<Fence>("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned",
                    {mem(rd), mem(r), imm(128)});
  EXPECT_EQ(publish.to, Proxy::tensormap);
  EXPECT_EQ(publish.order, Order::release);
  EXPECT_EQ(publish.address, 0);
  EXPECT_EQ(publish.copy_from, 1);
}

TEST_F(Effects, remote_stores) {
  const auto store = decode<StoreAsync>("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32",
                                        {mem(r), many(f, 4), mem(r2)});
  EXPECT_EQ(store.elements, 4);
  EXPECT_EQ(store.mbar, 2);
  EXPECT_EQ(decode<StoreAsync>("st.async.cluster.shared::cluster.mbarrier::complete_tx::bytes.b64",
                               {mem(rd), rd2, mem(rd)})
                .elements,
            1)
      << "as LLVM writes it";
  const auto red = decode<ReduceAsync>(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32", {mem(r), r2, mem(r)});
  EXPECT_EQ(red.op, AtomicOp::inc);
  EXPECT_NE(reason("multimem.red.relaxed.sys.global.add.u32", {mem(rd), r}).find("multimem.red"),
            std::string::npos);
}

// --- matrices -----------------------------------------------------------------------------------------
TEST_F(Effects, wgmma_reads_its_shape_and_operands) {
  const auto desc = decode<Wgmma>("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
                                  {many(f, 128), rd, rd2, p, imm(1), imm(-1), imm(0), imm(1)});
  EXPECT_EQ(desc.n, 256);
  EXPECT_EQ(desc.k, 16);
  EXPECT_EQ(desc.a, Type::bf16);
  EXPECT_EQ(desc.a_desc, 1);
  EXPECT_EQ(desc.a_regs, -1);
  EXPECT_EQ(desc.scale_d, 3);
  EXPECT_EQ(desc.trans_b, 7);
  const auto regs = decode<Wgmma>("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16",
                                  {many(r, 2), many(r2, 4), rd2, p, imm(1), imm(1), imm(0)});
  EXPECT_EQ(regs.a_desc, -1);
  EXPECT_EQ(regs.a_regs, 1);
  EXPECT_EQ(regs.trans_a, -1);
  EXPECT_EQ(regs.trans_b, 6);
  EXPECT_EQ(regs.d, Type::f16);
  const auto fp8 = decode<Wgmma>("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e5m2",
                                 {many(f, 8), many(r, 4), rd2, p, imm(1), imm(1)});
  EXPECT_EQ(fp8.a_regs, 1);
  EXPECT_EQ(fp8.b, Type::e5m2);
  EXPECT_EQ(fp8.scale_b, 5);
  const auto bytes =
      decode<Wgmma>("wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.u8.s8", {many(r, 4), rd, rd2, p});
  EXPECT_TRUE(bytes.satfinite);
  EXPECT_EQ(bytes.scale_a, -1);
}

TEST_F(Effects, wgmma_sparse_and_groups) {
  const auto sparse = decode<Wgmma>("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16",
                                    {many(f, 4), rd, rd2, r, imm(0), p, imm(1), imm(1), imm(0), imm(0)});
  EXPECT_TRUE(sparse.sparse);
  EXPECT_EQ(sparse.k, 32);
  EXPECT_EQ(sparse.metadata, 3);
  EXPECT_EQ(sparse.selector, 4);
  EXPECT_EQ(sparse.scale_d, 5);
  decode<WgmmaFence>("wgmma.fence.sync.aligned");
  decode<WgmmaCommit>("wgmma.commit_group.sync.aligned");
  EXPECT_EQ(decode<WgmmaWait>("wgmma.wait_group.sync.aligned", {imm(2)}).n, 2);
  EXPECT_EQ(
      reason("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", {many(f, 5), rd, rd2, p, imm(1), imm(1)}),
      "`wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32`: the accumulator takes 4 registers");
}

TEST_F(Effects, mma_reads_its_shape_and_types) {
  const auto half = decode<Mma>("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                                {many(f, 4), many(r, 4), many(r, 2), many(f, 4)});
  EXPECT_EQ(half.m, 16);
  EXPECT_EQ(half.k, 16);
  EXPECT_TRUE(half.a_row);
  EXPECT_TRUE(half.b_col);
  EXPECT_EQ(half.c, Type::f32);
  const auto volta = decode<Mma>("mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16",
                                 {many(f, 8), many(r, 2), many(r, 2), many(r, 4)});
  EXPECT_FALSE(volta.a_row);
  EXPECT_FALSE(volta.b_col);
  EXPECT_EQ(volta.c, Type::f16);
  const auto bits = decode<Mma>("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
                                {many(r, 4), many(r, 4), many(r, 2), many(r, 4)});
  EXPECT_TRUE(bits.xor_popc);
  EXPECT_EQ(bits.k, 256);
  const auto sparse =
      decode<Mma>("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8.s32",
                  {many(r, 4), many(r, 4), many(r, 4), many(r, 4), r2, imm(0)});
  EXPECT_TRUE(sparse.sparse);
  EXPECT_TRUE(sparse.satfinite);
  EXPECT_EQ(sparse.metadata, 4);
  EXPECT_NE(reason("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                   {many(f, 4), many(r, 2), many(r, 2), many(f, 4)}),
            "");
}

// --- the rest -----------------------------------------------------------------------------------------
TEST_F(Effects, registers_and_dependent_grids) {
  const auto inc = decode<SetMaxRegisters>("setmaxnreg.inc.sync.aligned.u32", {imm(240)});
  EXPECT_TRUE(inc.increase);
  EXPECT_EQ(inc.count, 240);
  EXPECT_NE(reason("setmaxnreg.dec.sync.aligned.u32", {imm(20)}).find("multiple of 8"), std::string::npos);
  EXPECT_TRUE(decode<GridDependency>("griddepcontrol.wait").wait);
  EXPECT_FALSE(decode<GridDependency>("griddepcontrol.launch_dependents").wait);
  EXPECT_EQ(decode<TextureLoad>("tex.2d.v4.f32.f32", {many(f, 4), tensor(2)}).geometry, Geometry::d2);
}

TEST_F(Effects, timing_follows_the_space) {
  EXPECT_EQ(time("ld.shared.u32", {r, mem(r)}).latency, "ld_shared");
  EXPECT_EQ(time("ld.global.u32", {r, mem(rd)}).latency, "ld_global");
  EXPECT_EQ(time("atom.shared::cluster.add.u32", {r, mem(r), r}).latency, "atom_cluster");
  EXPECT_EQ(time("wgmma.wait_group.sync.aligned", {imm(0)}).unit, Unit::sync);
  EXPECT_EQ(time("cp.async.bulk.prefetch.tensor.1d.L2.global", {tensor(1)}).unit, Unit::tma);
  EXPECT_EQ(time("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
                 {many(b_.reg(Type::f64), 2), many(rd, 1), many(rd, 1), many(rd, 2)})
                .latency,
            "mma_f64");
}

}  // namespace
}  // namespace palladion::isa
