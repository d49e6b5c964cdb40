// Copies of tensor tiles and the tensor maps that describe them (PTX, "Data Movement and Conversion
// Instructions: Tensor copy", "Tensormap Proxy").
#include "isa/formats/tensor_map.h"
#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint TensorCopy::footprint() const {
  const MemoryUse outer{.space = Space::global,
                        .proxy = Proxy::async,
                        .reads = load || op != BulkOp::copy,
                        .writes = !load,
                        .address = tensor};
  const MemoryUse inner{.space = load ? dst_space : Space::shared_cta,
                        .proxy = Proxy::async,
                        .reads = !load,
                        .writes = load,
                        .address = shared};
  const MemoryUse map{
      .proxy = Proxy::tensormap, .content = Content::tensor_map, .reads = true, .address = tensor};
  MemoryUses uses{load ? outer : inner, load ? inner : outer, map};
  if (prefetch) uses = {outer, map};
  return {.values = Values::tensor,
          .memory = uses,
          .control = {cta_mask, im2col_offsets},
          .async = {.role = Async::Role::issues,
                    .family = AsyncFamily::tensor,
                    .group = decode::group_of(completion),
                    .mbarrier = mbar}};
}

Footprint TensormapReplace::footprint() const {
  return {.memory = {{.space = space,
                      .content = Content::tensor_map,
                      .reads = true,
                      .writes = true,
                      .address = address,
                      .bytes = 128}},
          .control = {ordinal, value}};
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

// im2col takes three dimensions or more, with an offset operand; a policy or a mask operand is present
// exactly when its modifier is.
constexpr decode::Definition words[] = {
    {"$load", "<l:.dim:1d|2d|3d|4d|5d;.dim:3d|4d|5d>"},
    {"$mode", "<l:{.mode:tile};.mode:im2col>"},
    {"$offsets", "<l:;, offsets:u16^*>"},
    {"$store", "<s:.dim:1d|2d|3d|4d|5d;.dim:3d|4d|5d>"},
    {"$no_offsets", "<s:{.mode:tile};.mode:im2col_no_offs>"},
    {"$multicast", "<m:;.multicast::cluster>"},
    {"$ctas", "<m:;, ctas:u16>"},
    {"$hint", "<h:;.L2::cache_hint>"},
    {"$policy", "<h:;, policy:b64>"},
    {"$mbarrier", ".mbarrier::complete_tx::bytes"},
    // Where the mbarrier is: .cta_group says so. Forms with it need the family's target, for one destination
    // some words need less.
    {"$pair", ".cta_group:cta_group::1|cta_group::2"},
    {"$either", "<m:.dst:shared::cta|shared::cluster;.dst:shared::cluster>.src:global"},
    {"$family", "[8.6 sm_100f|sm_110f]"},
    {"$rows", "<r:.dim:2d;.dim:3d|4d|5d>"},
    {"$row_mode", "<r:tile::gather4;im2col::w>"},
    {"$info", "<r:;, offsets:u16^2>"},
};

TensorMode mode_of(const Instruction& i) {
  return decode::word_of<TensorMode>(i.mod("mode"), {{"", TensorMode::tile},
                                                     {"tile", TensorMode::tile},
                                                     {"tile::gather4", TensorMode::gather4},
                                                     {"tile::scatter4", TensorMode::scatter4},
                                                     {"im2col", TensorMode::im2col},
                                                     {"im2col_no_offs", TensorMode::im2col},
                                                     {"im2col::w", TensorMode::im2col_w},
                                                     {"im2col::w::128", TensorMode::im2col_w_128}});
}

TensorCopy tensor_copy(const Instruction& i) {
  TensorCopy e{.rank = i.mod("dim")[0] - '0', .mode = mode_of(i)};
  e.tensor = index(i, "map");
  return e;
}

Effect tensor_load(const Instruction& i, const DecodeContext&) {
  TensorCopy e = tensor_copy(i);
  e.dst_space = decode::space(i, Space::shared_cluster, "dst");
  e.shared = index(i, "dst");
  e.mbar = index(i, "mbar");
  e.cta_mask = index(i, "ctas");
  e.im2col_offsets = index(i, "offsets");
  e.cta_group = i.mod("cta_group") == "cta_group::2" ? 2 : 1;
  return e;
}

Effect tensor_store(const Instruction& i, const DecodeContext&) {
  TensorCopy e = tensor_copy(i);
  e.load = false;
  e.completion = Completion::bulk_group;
  e.op = decode::bulk_op(i);
  e.dst_space = Space::global;
  e.shared = index(i, "src");
  return e;
}

Effect tensor_prefetch(const Instruction& i, const DecodeContext&) {
  TensorCopy e = tensor_copy(i);
  e.completion = Completion::none;
  e.prefetch = true;
  e.shared = -1;
  e.im2col_offsets = index(i, "offsets");
  return e;
}

std::vector<OpDef> copies() {
  return {
      OpDef{
          "cp",
          "Copies a box of a tensor from global memory to shared memory, of one CTA or of several, and "
          "completes its "
          "bytes at an mbarrier. Data Movement and Conversion Instructions: cp.async.bulk.tensor.",
          decode::expand(
              {"[8.6 sm_90] cp.async.bulk.tensor$load.dst:shared::cta.src:global$mode$mbarrier$hint "
               "dst:mem, map:tensor, mbar:mem$offsets$policy",
               "[8.0 sm_90] "
               "cp.async.bulk.tensor$load.dst:shared::cluster.src:global$mode$mbarrier$multicast$hint "
               "dst:mem, map:tensor, mbar:mem$offsets$ctas$policy",
               "[8.6 sm_100] "
               "cp.async.bulk.tensor$rows.dst:shared::cta.src:global.mode:$row_mode$mbarrier$hint "
               "dst:mem, map:tensor, mbar:mem$info$policy",
               "$family cp.async.bulk.tensor$rows.dst:shared::cluster.src:global.mode:$row_mode$mbarrier"
               "$multicast$hint dst:mem, map:tensor, mbar:mem$info$ctas$policy",
               "$family cp.async.bulk.tensor$rows$either.mode:$row_mode$mbarrier$multicast$pair$hint "
               "dst:mem, map:tensor, mbar:mem$info$ctas$policy",
               "$family cp.async.bulk.tensor.dim:3d|4d|5d$either.mode:im2col::w::128$mbarrier$multicast$hint "
               "dst:mem, map:tensor, mbar:mem, offsets:u16^2$ctas$policy",
               "$family cp.async.bulk.tensor.dim:3d|4d|5d$either.mode:im2col::w::128$mbarrier$multicast$pair"
               "$hint dst:mem, map:tensor, mbar:mem, offsets:u16^2$ctas$policy",
               "$family cp.async.bulk.tensor$load$either$mode$mbarrier$multicast$pair$hint dst:mem, "
               "map:tensor, "
               "mbar:mem$offsets$ctas$policy"},
              words),
          Timing{Unit::tma, "tensor_load"}, tensor_load},
      OpDef{
          "cp",
          "Copies a box from shared memory to a tensor in global memory, in a bulk group. Data Movement and "
          "Conversion Instructions: cp.async.bulk.tensor.",
          decode::expand(
              {"[8.0 sm_90] cp.async.bulk.tensor$store.dst:global.src:shared::cta$no_offsets.bulk_group$hint "
               "map:tensor, src:mem$policy",
               "$family cp.async.bulk.tensor.dim:2d.dst:global.src:shared::cta.mode:tile::scatter4"
               ".bulk_group$hint map:tensor, src:mem$policy"},
              words),
          Timing{Unit::tma, "tensor_store"}, tensor_store},
      OpDef{"cp",
            "Combines a box in shared memory with a tensor in global memory, in a bulk group. Data Movement "
            "and "
            "Conversion Instructions: cp.reduce.async.bulk.tensor.",
            decode::expand(
                {"[8.0 sm_90] cp.reduce.async.bulk.tensor$store.dst:global.src:shared::cta"
                 ".op:add|min|max|inc|dec|and|or|xor$no_offsets.bulk_group$hint map:tensor, src:mem$policy",
                 "$family cp.reduce.async.bulk.tensor.dim:2d.dst:global.src:shared::cta"
                 ".op:add|min|max|inc|dec|and|or|xor.mode:tile::scatter4.bulk_group$hint map:tensor, "
                 "src:mem$policy"},
                words),
            Timing{Unit::tma, "tensor_reduce"}, tensor_store},
      OpDef{"cp",
            "Brings a box of a tensor into L2. Data Movement and Conversion Instructions: "
            "cp.async.bulk.prefetch.tensor.",
            decode::expand({"[8.0 sm_90] cp.async.bulk.prefetch.tensor$load.level:L2.src:global$mode$hint "
                            "map:tensor$offsets$policy",
                            "$family cp.async.bulk.prefetch.tensor$rows.level:L2.src:global.mode:$row_mode"
                            "$hint map:tensor$info$policy",
                            "$family cp.async.bulk.prefetch.tensor.dim:3d|4d|5d.level:L2.src:global"
                            ".mode:im2col::w::128$hint map:tensor, offsets:u16^2$policy"},
                           words),
            Timing{Unit::tma, "tensor_prefetch"}, tensor_prefetch},
  };
}

// --- tensormap ------------------------------------------------------------------------------------------
Effect replace(const Instruction& i, const DecodeContext&) {
  const TensorMapField field = tensor_map_field_named(i.mod("field")).value();
  return TensormapReplace{.field = field,
                          .space = decode::space(i),
                          .type = i.type(),
                          .address = index(i, "a"),
                          .ordinal = index(i, "ordinal"),
                          .value = index(i, "value")};
}

// A copy of 128 bytes to global memory and the release half of the tensor map's proxy fence, at once.
Effect fenceproxy(const Instruction& i, const DecodeContext&) {
  return Fence{.order = Order::release,
               .scope = decode::scope(i, Scope::gpu),
               .proxy = true,
               .to = Proxy::tensormap,
               .address = index(i, "dst"),
               .size = index(i, "size"),
               .copy_from = index(i, "src")};
}

std::vector<OpDef> tensor_maps() {
  constexpr decode::Definition head[] = {{"$replace", "tensormap.replace.tile"},
                                         {"$families", "sm_100f|sm_110f|sm_120f"},
                                         {"$chips", "sm_90a|$families"},
                                         {"$space", "{.space:global|shared::cta}.b1024"}};
  return {
      OpDef{
          "tensormap",
          "Replaces one field of a tensor map in memory. Data Movement and Conversion Instructions: "
          "tensormap.replace.",
          decode::expand(
              {"[8.3 $chips] $replace.field:global_address$space.type:b64 a:mem, value:type",
               "[8.3 $chips] $replace.field:rank$space.type:b32 a:mem, value:type",
               "[8.3 $chips] $replace.field:box_dim|global_dim|element_stride$space.type:b32 a:mem, "
               "ordinal:imm, value:type",
               "[8.3 $chips] $replace.field:global_stride$space.type:b64 a:mem, ordinal:imm, value:type",
               "[8.3 $chips] $replace.field:elemtype|interleave_layout|swizzle_mode|fill_mode$space.type:b32 "
               "a:mem, value:imm",
               "[8.6 $families] $replace.field:swizzle_atomicity$space.type:b32 a:mem, value:imm"},
              head),
          Timing{Unit::lsu, "tensormap_replace"}, replace},
      OpDef{"tensormap",
            "Copies a tensor map from shared to global memory and releases it to the tensor map proxy. "
            "Parallel Synchronization and Communication Instructions: tensormap.cp_fenceproxy.",
            {"[8.3 sm_90] tensormap.cp_fenceproxy.dst:global.src:shared::cta.kind:tensormap::generic"
             ".sem:release.scope:%scope.sync.aligned dst:mem, src:mem, "
             "size:imm[128: a tensor map has 128 bytes]"},
            Timing{Unit::sync, "tensormap_fence"},
            fenceproxy},
  };
}

}  // namespace

std::vector<OpDef> tensor_copies() { return joined({copies(), tensor_maps()}); }

}  // namespace palladion::isa::ops
