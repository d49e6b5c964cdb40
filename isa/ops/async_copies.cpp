// Asynchronous copies: cp.async, linear bulk copies, st.async, red.async; multimem
// (PTX, "Data Movement and Conversion Instructions: Asynchronous copy").
#include <array>

#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint CpAsync::footprint() const {
  const auto size = static_cast<uint32_t>(bytes);
  return {
      .values = Values::tensor,
      .memory = {{.space = Space::global, .reads = true, .address = src, .bytes = size},
                 {.space = Space::shared_cta, .writes = true, .address = dst, .bytes = size}},
      .control = {src_size, ignore_src},
      .async = {.role = Async::Role::issues, .family = AsyncFamily::cp_async, .group = AsyncGroup::cp_async}};
}

Footprint CpAsyncCommit::footprint() const {
  return {.async = {
              .role = Async::Role::commits, .family = AsyncFamily::cp_async, .group = AsyncGroup::cp_async}};
}

Footprint CpAsyncWait::footprint() const {
  return {.async = {.role = Async::Role::waits,
                    .family = AsyncFamily::cp_async,
                    .group = AsyncGroup::cp_async,
                    .groups_left = all ? 0 : n}};
}

Footprint CpAsyncMbarrierArrive::footprint() const {
  return {
      .async = {.role = Async::Role::issues, .family = AsyncFamily::deferred_arrival, .mbarrier = address}};
}

Footprint BulkCopy::footprint() const {
  const MemoryUse source{
      .space = src_space, .proxy = Proxy::async, .reads = true, .address = src, .size = size};
  const MemoryUse destination{.space = dst_space,
                              .proxy = Proxy::async,
                              .reads = op != BulkOp::copy,
                              .writes = true,
                              .address = dst,
                              .size = size};
  MemoryUses uses{source, destination};
  if (prefetch) uses = {source};
  return {.values = Values::tensor,
          .memory = uses,
          .control = {size, cta_mask, byte_mask},
          .async = {.role = Async::Role::issues,
                    .family = AsyncFamily::bulk,
                    .group = decode::group_of(completion),
                    .mbarrier = mbar}};
}

Footprint BulkCommit::footprint() const {
  return {.async = {.role = Async::Role::commits, .family = AsyncFamily::bulk, .group = AsyncGroup::bulk}};
}

Footprint BulkWait::footprint() const {
  return {.async = {.role = Async::Role::waits,
                    .family = AsyncFamily::bulk,
                    .group = AsyncGroup::bulk,
                    .reads_only = read,
                    .groups_left = n}};
}

Footprint StoreAsync::footprint() const {
  return {.values = Values::stored,
          .memory = {{.space = Space::shared_cluster,
                      .writes = true,
                      .address = address,
                      .bytes = decode::size_of(type, elements)}},
          .async = {.role = Async::Role::issues, .family = AsyncFamily::remote_store, .mbarrier = mbar}};
}

Footprint ReduceAsync::footprint() const {
  return {.values = Values::combined,
          .memory = {{.space = Space::shared_cluster,
                      .reads = true,
                      .writes = true,
                      .address = address,
                      .bytes = decode::size_of(type, 1)}},
          .async = {.role = Async::Role::issues, .family = AsyncFamily::remote_store, .mbarrier = mbar}};
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

// A policy operand is present exactly when .L2::cache_hint is, a mask operand when its modifier is.
constexpr decode::Definition words[] = {
    {"$hint", "<h:;.L2::cache_hint>"},
    {"$policy", "<h:;, policy:b64>"},
    {"$cop", ".cop:<c:ca;cg>"},
    {"$bytes", "size:imm[<c:4|8|16: cp.async.ca copies 4, 8 or 16 bytes;16: cp.async.cg copies 16 bytes>]"},
    {"$amount", ":u32/pred[0..size: no more bytes are read than written]"},
    {"$size", "size:u32[0../16: bulk copies move a multiple of 16 bytes]"},
    {"$ahead", "{.prefetch:L2::64B|L2::128B|L2::256B}"},
    {"$multicast", "<m:;.multicast::cluster>"},
    {"$ctas", "<m:;, ctas:u16>"},
    {"$mbarrier", ".mbarrier::complete_tx::bytes"},
    {"$cta", ".dst:shared|shared::cta"},
    {"$remote", "{.space:shared::cluster}"},
    {"$to_shared", ".dst:shared::cluster.src:shared::cta"},
    {"$to_global", ".dst:global.src:shared::cta.bulk_group"},
};

constexpr Timing group_timing{Unit::sync, "async_group"};

// --- cp.async -------------------------------------------------------------------------------------------
// The fourth operand is the number of source bytes, or a predicate that drops the source.
Effect cp_async(const Instruction& i, const DecodeContext& c) {
  CpAsync e{.bytes = decode::immediate(i, "size"), .dst = index(i, "dst"), .src = index(i, "src")};
  const int source = index(i, "source");
  if (source >= 0) (decode::is_predicate(i.operands[source], c) ? e.ignore_src : e.src_size) = source;
  return e;
}

Effect cp_async_group(const Instruction& i, const DecodeContext&) {
  if (i.has("commit_group")) return CpAsyncCommit{};
  return CpAsyncWait{.all = i.has("wait_all"), .n = i.has("wait_all") ? -1 : decode::immediate(i, "n")};
}

Effect cp_async_arrive(const Instruction& i, const DecodeContext&) {
  return CpAsyncMbarrierArrive{.noinc = i.has("noinc"), .space = decode::space(i), .address = index(i, "a")};
}

std::vector<OpDef> cp_async_defs() {
  return {
      OpDef{"cp",
            "Copies 4, 8 or 16 bytes from global to shared memory; source bytes beyond src-size, or all with "
            "ignore-src, are zeros. Data Movement and Conversion Instructions: cp.async.",
            decode::expand(
                {"[7.0 sm_80] cp.async$cop$cta.src:global$ahead dst:mem, src:mem, $bytes, source?$amount",
                 "[7.0 sm_80] cp.async$cop$cta.src:global.L2::cache_hint$ahead dst:mem, src:mem, $bytes, "
                 "policy:b64",
                 "[7.0 sm_80] cp.async$cop$cta.src:global.L2::cache_hint$ahead dst:mem, src:mem, $bytes, "
                 "source$amount, policy:b64"},
                words),
            Timing{Unit::lsu, "cp_async"}, cp_async},
      OpDef{"cp",
            "Makes the thread's cp.async operations so far a group, or waits until at most n groups, or none "
            "at all, "
            "are pending. Data Movement and Conversion Instructions: cp.async.commit_group, "
            "cp.async.wait_group.",
            {"[7.0 sm_80] cp.async.commit_group", "[7.0 sm_80] cp.async.wait_group n:imm",
             "[7.0 sm_80] cp.async.wait_all"},
            group_timing,
            cp_async_group},
      OpDef{"cp",
            "Arrives at an mbarrier when the thread's cp.async operations so far are done; without noinc the "
            "phase "
            "awaits one arrival more. Parallel Synchronization and Communication Instructions: "
            "cp.async.mbarrier.arrive.",
            {"[7.0 sm_80] cp.async.mbarrier.arrive{.noinc}{.space:shared|shared::cta}.b64 a:mem"},
            group_timing,
            cp_async_arrive},
  };
}

// --- cp.async.bulk ----------------------------------------------------------------------------------------
Effect bulk(const Instruction& i, const DecodeContext&) {
  BulkCopy e{.dst_space = decode::space(i, Space::shared_cluster, "dst"),
             .src_space = decode::space(i, Space::global, "src"),
             .completion = i.has("bulk_group") ? Completion::bulk_group : Completion::mbarrier};
  e.op = decode::bulk_op(i);
  if (e.op != BulkOp::copy) {
    e.type = i.type();
    e.noftz = i.has("noftz");
  }
  e.dst = index(i, "dst");
  e.src = index(i, "src");
  e.size = index(i, "size");
  e.mbar = index(i, "mbar");
  e.cta_mask = index(i, "ctas");
  e.byte_mask = index(i, "bytes");
  return e;
}

Effect bulk_prefetch(const Instruction& i, const DecodeContext&) {
  return BulkCopy{.completion = Completion::none,
                  .prefetch = true,
                  .dst = -1,
                  .src = index(i, "src"),
                  .size = index(i, "size")};
}

Effect bulk_group(const Instruction& i, const DecodeContext&) {
  if (i.has("commit_group")) return BulkCommit{};
  return BulkWait{.read = i.has("read"), .n = decode::immediate(i, "n")};
}

std::vector<std::string_view> reduce_forms() {
  return decode::expand(
      {"[8.0 sm_90] cp.reduce.async.bulk$to_shared$mbarrier.op:and|or|xor.type:b32 dst:mem, src:mem, "
       "$size, mbar:mem",
       "[8.0 sm_90] cp.reduce.async.bulk$to_shared$mbarrier.op:add.type:s32|u32|u64 dst:mem, src:mem, "
       "$size, mbar:mem",
       "[8.0 sm_90] cp.reduce.async.bulk$to_shared$mbarrier.op:min|max.type:s32|u32 dst:mem, src:mem, "
       "$size, mbar:mem",
       "[8.0 sm_90] cp.reduce.async.bulk$to_shared$mbarrier.op:inc|dec.type:u32 dst:mem, src:mem, $size, "
       "mbar:mem",
       "[8.0 sm_90] cp.reduce.async.bulk$to_global$hint.op:and|or|xor.type:b32|b64 dst:mem, src:mem, "
       "$size$policy",
       "[8.0 sm_90] cp.reduce.async.bulk$to_global$hint.op:add.type:s32|u32|u64|f32|f64 dst:mem, src:mem, "
       "$size$policy",
       "[8.0 sm_90] cp.reduce.async.bulk$to_global$hint.op:add.noftz.type:f16|bf16 dst:mem, src:mem, "
       "$size$policy",
       "[8.0 sm_90] cp.reduce.async.bulk$to_global$hint.op:min|max.type:s32|u32|s64|u64|f16|bf16 "
       "dst:mem, src:mem, $size$policy",
       "[8.0 sm_90] cp.reduce.async.bulk$to_global$hint.op:inc|dec.type:u32 dst:mem, src:mem, "
       "$size$policy"},
      words);
}

std::vector<OpDef> bulk_defs() {
  return {
      OpDef{"cp",
            "Copies a multiple of 16 bytes between global and shared memory, or to shared memory of the "
            "cluster; an "
            "mbarrier or a bulk group signals the end. Data Movement and Conversion Instructions: "
            "cp.async.bulk.",
            decode::expand(
                {"[8.6 sm_90] cp.async.bulk.dst:shared::cta.src:global$mbarrier$hint dst:mem, src:mem, "
                 "$size, "
                 "mbar:mem$policy",
                 "[8.0 sm_90] cp.async.bulk.dst:shared::cluster.src:global$mbarrier$multicast$hint dst:mem, "
                 "src:mem, $size, mbar:mem$ctas$policy",
                 "[8.0 sm_90] cp.async.bulk$to_shared$mbarrier dst:mem, src:mem, $size, mbar:mem",
                 "[8.0 sm_90] cp.async.bulk$to_global$hint dst:mem, src:mem, $size$policy",
                 "[8.6 sm_100] cp.async.bulk$to_global$hint.cp_mask dst:mem, src:mem, $size$policy, "
                 "bytes:u16"},
                words),
            Timing{Unit::tma, "bulk_copy"}, bulk},
      OpDef{"cp",
            "Combines an array in shared memory of the CTA with one in shared memory of the cluster or in "
            "global memory, "
            "element by element. Data Movement and Conversion Instructions: cp.reduce.async.bulk.",
            reduce_forms(), Timing{Unit::tma, "bulk_reduce"}, bulk},
      OpDef{"cp",
            "Brings a range of global memory into L2. Data Movement and Conversion Instructions: "
            "cp.async.bulk.prefetch.",
            decode::expand(
                {"[8.0 sm_90] cp.async.bulk.prefetch.level:L2.src:global$hint src:mem, $size$policy"}, words),
            Timing{Unit::tma, "bulk_prefetch"}, bulk_prefetch},
      OpDef{"cp",
            "Makes the thread's bulk operations so far a bulk group, or waits until at most n groups are "
            "pending, with "
            "read only until their sources have been read. Data Movement and Conversion Instructions: "
            "cp.async.bulk.commit_group, cp.async.bulk.wait_group.",
            {"[8.0 sm_90] cp.async.bulk.commit_group", "[8.0 sm_90] cp.async.bulk.wait_group{.read} n:imm"},
            group_timing,
            bulk_group},
  };
}

// --- st.async, red.async --------------------------------------------------------------------------------
Effect store_async(const Instruction& i, const DecodeContext&) {
  if (i.has("sem"))
    return decode::unsupported(
        i, "asynchronous stores to global memory, which begin with sm_100, are not modelled");
  return StoreAsync{.type = i.type(),
                    .elements = decode::elements(i),
                    .address = index(i, "a"),
                    .src = index(i, "b"),
                    .mbar = index(i, "mbar")};
}

Effect reduce_async(const Instruction& i, const DecodeContext&) {
  if (i.mod("sem") == "release")
    return decode::unsupported(
        i, "asynchronous reductions of global memory, which begin with sm_100, are not modelled");
  return ReduceAsync{.op = decode::atomic_op(i),
                     .type = i.type(),
                     .address = index(i, "a"),
                     .src = index(i, "b"),
                     .mbar = index(i, "mbar")};
}

std::vector<OpDef> remote_defs() {
  return {
      OpDef{
          "st",
          "Stores to shared memory of another CTA of the cluster and completes as many bytes at an mbarrier "
          "there. "
          "Data Movement and Conversion Instructions: st.async; ptxas also knows it with .cluster, which "
          "LLVM writes.",
          decode::expand(
              {"[8.1 sm_90] st.async<o:;.weak;.scope:cluster>$remote$mbarrier{.vec:v2}"
               ".type:b32|b64|u32|u64|s32|s64|f32|f64 a:mem, b:type^vec, mbar:mem",
               "[8.1 sm_90] st.async<o:;.weak;.scope:cluster>$remote$mbarrier.vec:v4.type:b32|u32|s32|f32 "
               "a:mem, b:type^vec, "
               "mbar:mem",
               "[8.7 sm_100] st.async{.mmio}.sem:release.scope:gpu|sys{.space:global}.type:%b|%u|%s|f32|f64 "
               "a:mem, b:type"},
              words),
          Timing{Unit::lsu, "st_async"}, store_async},
      OpDef{"red",
            "Combines a value with shared memory of another CTA of the cluster and completes its bytes at an "
            "mbarrier "
            "there. Parallel Synchronization and Communication Instructions: red.async.",
            decode::expand(
                {"[8.1 sm_90] red.async.sem:relaxed.scope:cluster$remote$mbarrier.op:inc|dec.type:u32 "
                 "$operands",
                 "[8.1 sm_90] red.async.sem:relaxed.scope:cluster$remote$mbarrier.op:min|max.type:u32|s32 "
                 "$operands",
                 "[8.1 sm_90] red.async.sem:relaxed.scope:cluster$remote$mbarrier.op:and|or|xor.type:b32 "
                 "$operands",
                 "[8.1 sm_90] "
                 "red.async.sem:relaxed.scope:cluster$remote$mbarrier.op:add.type:u32|s32|u64|s64 $operands",
                 "[8.7 sm_100] red.async{.mmio}.sem:release.scope:gpu|sys{.space:global}.op:add"
                 ".type:u32|s32|u64|s64 a:mem, b:type"},
                std::array<decode::Definition, 3>{{{"$remote", "{.space:shared::cluster}"},
                                                   {"$mbarrier", ".mbarrier::complete_tx::bytes"},
                                                   {"$operands", "a:mem, b:type, mbar:mem"}}}),
            Timing{Unit::lsu, "red_async"}, reduce_async},
  };
}

// --- multimem ---------------------------------------------------------------------------------------------
Effect multimem(const Instruction& i, const DecodeContext&) {
  return decode::unsupported(i, "multicast memory of several GPUs is not modelled");
}

std::vector<std::string_view> multimem_forms() {
  constexpr decode::Definition sets[] = {
      {"$load", "multimem.ld_reduce<o:;.weak;.sem:relaxed|acquire.scope:%scope>{.space:global}"},
      {"$store", "multimem.st<o:;.weak;.sem:relaxed|release.scope:%scope>{.space:global}"},
      {"$red", "multimem.red<o:;.sem:relaxed|release.scope:%scope>{.space:global}"},
      {"$add", ".op:add.type:u32|s32|u64"},
      {"$integers", "u32|s32|u64|s64"},
  };
  return decode::expand(
      {"[8.1 sm_90] $load$add =d:type, a:mem", "[8.1 sm_90] $load.op:min|max.type:$integers =d:type, a:mem",
       "[8.1 sm_90] $load.op:and|or|xor.type:b32|b64 =d:type, a:mem",
       "[8.1 sm_90] $load.op:add.type:f32|f64 =d:type, a:mem",
       "[8.1 sm_90] $load.op:add.vec:v2|v4.type:f32 =d:type^vec, a:mem",
       "[8.1 sm_90] $load.op:add|min|max{.vec:v2|v4}.type:f16x2|bf16x2 =d:type^vec, a:mem",
       "[8.2 sm_90] $load.op:add.acc::f32{.vec:v2|v4}.type:f16x2|bf16x2 =d:type^vec, a:mem",
       "[8.1 sm_90] $load.op:add|min|max.vec:v2|v4|v8.type:f16|bf16 =d:type^vec, a:mem",
       "[8.1 sm_90] $store.type:b32|b64|$integers|f32|f64 a:mem, b:type",
       "[8.1 sm_90] $store.vec:v2|v4.type:f32 a:mem, b:type^vec",
       "[8.1 sm_90] $store{.vec:v2|v4}.type:f16x2|bf16x2 a:mem, b:type^vec",
       "[8.1 sm_90] $store.vec:v2|v4|v8.type:f16|bf16 a:mem, b:type^vec",
       "[8.1 sm_90] $red$add a:mem, b:type", "[8.1 sm_90] $red.op:min|max.type:$integers a:mem, b:type",
       "[8.1 sm_90] $red.op:and|or|xor.type:b32|b64 a:mem, b:type",
       "[8.1 sm_90] $red.op:add.type:f32|f64 a:mem, b:type",
       "[8.1 sm_90] $red.op:add.vec:v2|v4.type:f32 a:mem, b:type^vec",
       "[8.1 sm_90] $red.op:add{.vec:v2|v4}.type:f16x2|bf16x2 a:mem, b:type^vec",
       "[8.1 sm_90] $red.op:add.vec:v2|v4|v8.type:f16|bf16 a:mem, b:type^vec"},
      sets);
}

std::vector<OpDef> multimem_defs() {
  return {OpDef{"multimem",
                "Loads with a reduction over, stores to, or reduces into all memories behind a multicast "
                "address. Data Movement and Conversion Instructions: multimem.",
                multimem_forms(), Timing{Unit::lsu, "multimem"}, multimem}};
}

}  // namespace

std::vector<OpDef> async_copies() {
  return joined({cp_async_defs(), bulk_defs(), remote_defs(), multimem_defs()});
}

}  // namespace palladion::isa::ops
