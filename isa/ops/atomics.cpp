// Atomics and fences (PTX, "Parallel Synchronization and Communication Instructions").
#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint Atomic::footprint() const {
  return {.values = Values::combined,
          .memory = {{.space = space,
                      .reads = true,
                      .writes = true,
                      .address = address,
                      .bytes = decode::size_of(type, elements)}},
          .order = order,
          .scope = scope};
}

Footprint Fence::footprint() const {
  Footprint f{.control = {size},
              .order = proxy ? Order::weak : order,
              .scope = scope,
              .sync = {.object = Sync::Object::fence}};
  if (copy_from < 0) return f;
  f.participants = Participants::warp;
  f.memory = {{.space = Space::shared_cta,
               .content = Content::tensor_map,
               .reads = true,
               .address = copy_from,
               .size = size},
              {.space = Space::global,
               .content = Content::tensor_map,
               .writes = true,
               .address = address,
               .size = size}};
  return f;
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

// A policy is for global memory only, and its operand is present exactly when .L2::cache_hint is. CUDA's
// own headers write the order and the scope after the operation.
constexpr decode::Definition words[] = {
    {"$atom", "atom<w:{.sem:relaxed|acquire|release|acq_rel}{.scope:%scope};>"},
    {"$late_atom", "<w:;{.sem:relaxed|acquire|release|acq_rel}{.scope:%scope}>"},
    {"$red", "red<w:{.sem:relaxed|release}{.scope:%scope};>"},
    {"$late_red", "<w:;{.sem:relaxed|release}{.scope:%scope}>"},
    {"$space", "<h:{.space:global|shared|shared::cta|shared::cluster};{.space:global}>"},
    {"$any_space", "{.space:global|shared|shared::cta|shared::cluster}"},
    {"$hint", "<h:;.L2::cache_hint>"},
    {"$policy", "<h:;, policy:b64>"},
};

std::vector<std::string_view> atom_forms() {
  return decode::expand(
      {"$atom$space.op:and|or|xor|exch$late_atom$hint.type:b32|b64 =_d:type, a:mem, b:type$policy",
       "$atom$space.op:add$late_atom$hint.type:u32|s32|u64|f32|f64 =_d:type, a:mem, b:type$policy",
       "$atom$space.op:inc|dec$late_atom$hint.type:u32 =_d:type, a:mem, b:type$policy",
       "$atom$space.op:min|max$late_atom$hint.type:u32|s32|u64|s64 =_d:type, a:mem, b:type$policy",
       "$atom$any_space.op:cas$late_atom.type:b32|b64 =_d:type, a:mem, b:type, c:type",
       "[6.3 sm_70] $atom$any_space.op:cas$late_atom.type:b16 =_d:type, a:mem, b:type, c:type",
       "[8.3 sm_90] $atom$any_space.op:cas$late_atom.type:b128 =_d:type, a:mem, b:type, c:type",
       "[8.3 sm_90] $atom$space.op:exch$late_atom$hint.type:b128 =_d:type, a:mem, b:type$policy",
       "[6.3 sm_70] $atom$space.op:add$late_atom.noftz$hint.type:f16|f16x2 =_d:type, a:mem, b:type$policy",
       "[7.8 sm_90] $atom$space.op:add$late_atom.noftz$hint.type:bf16|bf16x2 =_d:type, a:mem, b:type$policy",
       "[8.1 sm_90] $atom{.space:global}.op:add$late_atom$hint.vec:v2|v4.type:f32 =_d:type^vec, a:mem, "
       "b:type^vec$policy",
       "[8.1 sm_90] $atom{.space:global}.op:add|min|max$late_atom.noftz$hint.vec:v2|v4|v8.type:f16|bf16 "
       "=_d:type^vec, a:mem, b:type^vec$policy",
       "[8.1 sm_90] $atom{.space:global}.op:add|min|max$late_atom.noftz$hint.vec:v2|v4.type:f16x2|bf16x2 "
       "=_d:type^vec, a:mem, b:type^vec$policy"},
      words);
}

std::vector<std::string_view> red_forms() {
  return decode::expand(
      {"$red$space.op:and|or|xor$late_red$hint.type:b32|b64 a:mem, b:type$policy",
       "$red$space.op:add$late_red$hint.type:u32|s32|u64|f32|f64 a:mem, b:type$policy",
       "$red$space.op:inc|dec$late_red$hint.type:u32 a:mem, b:type$policy",
       "$red$space.op:min|max$late_red$hint.type:u32|s32|u64|s64 a:mem, b:type$policy",
       "[6.3 sm_70] $red$space.op:add$late_red.noftz$hint.type:f16|f16x2 a:mem, b:type$policy",
       "[7.8 sm_90] $red$space.op:add$late_red.noftz$hint.type:bf16|bf16x2 a:mem, b:type$policy",
       "[8.1 sm_90] $red{.space:global}.op:add$late_red$hint.vec:v2|v4.type:f32 a:mem, b:type^vec$policy",
       "[8.1 sm_90] $red{.space:global}.op:add|min|max$late_red.noftz$hint.vec:v2|v4|v8.type:f16|bf16 a:mem, "
       "b:type^vec$policy",
       "[8.1 sm_90] $red{.space:global}.op:add|min|max$late_red.noftz$hint.vec:v2|v4.type:f16x2|bf16x2 "
       "a:mem, b:type^vec$policy"},
      words);
}

// Shared memory adds 32-bit integers; the other operations ptxas compiles to a loop around a
// compare-and-swap.
bool loops_in_shared(const Instruction& i) {
  const std::string_view op = i.mod("op");
  return op != "cas" && op != "exch" && (is_float(i.type()) || bits(i.type()) != 32);
}

Timing atomic_timing(const Instruction& i, bool returns) {
  switch (decode::space(i)) {
    case Space::shared_cta:
      if (i.mod("op") == "cas") return {Unit::lsu, "atom_shared_cas"};
      if (loops_in_shared(i)) return {Unit::lsu, "atom_shared_loop"};
      return {Unit::lsu, returns ? "atom_shared" : "red_shared"};
    case Space::shared_cluster:
      return {Unit::lsu, returns ? "atom_cluster" : "red_cluster"};
    default:
      return {Unit::lsu, returns ? "atom_global" : "red_global"};
  }
}
Timing atom_timing(const Instruction& i) { return atomic_timing(i, true); }
Timing red_timing(const Instruction& i) { return atomic_timing(i, false); }

// Without a word an atomic is relaxed, at gpu scope.
Atomic atomic(const Instruction& i) {
  return Atomic{.op = decode::atomic_op(i),
                .space = decode::space(i),
                .type = i.type(),
                .elements = decode::elements(i),
                .order = decode::order(i, Order::relaxed),
                .scope = decode::scope(i, Scope::gpu),
                .noftz = i.has("noftz"),
                .dst = -1,
                .address = index(i, "a"),
                .b = index(i, "b")};
}

Effect atom(const Instruction& i, const DecodeContext&) {
  Atomic e = atomic(i);
  e.dst = decode::written(i, "d");
  e.c = index(i, "c");
  return e;
}

Effect red(const Instruction& i, const DecodeContext&) { return atomic(i); }

// --- fences -----------------------------------------------------------------------------------------
Timing fence_timing(const Instruction& i) {
  if (i.has("proxy")) {
    const bool global = i.has("async") && (!i.has("space") || i.mod("space") == "global");
    return {Unit::sync, global ? "fence_proxy_global" : "fence_proxy"};
  }
  if (i.has("mbarrier_init")) return {Unit::sync, "fence_init"};
  if (i.mod("sem") == "acquire") return {Unit::sync, "fence_acquire"};
  switch (decode::scope(i, Scope::sys)) {
    case Scope::cta:
      return {Unit::sync, "fence_cta"};
    case Scope::cluster:
      return {Unit::sync, "fence_cluster"};
    case Scope::gpu:
      return {Unit::sync, "fence_gpu"};
    default:
      return {Unit::sync, "fence_sys"};
  }
}

// From sm_70 on, membar.{cta,gl,sys} is fence.sc.{cta,gpu,sys}.
Scope membar_scope(const Instruction& i) {
  const std::string_view level = i.mod("level");
  return level == "cta" ? Scope::cta : level == "gl" ? Scope::gpu : Scope::sys;
}

Timing membar_timing(const Instruction& i) {
  if (i.has("proxy")) return {Unit::sync, "fence_proxy"};
  const Scope s = membar_scope(i);
  return {Unit::sync, s == Scope::cta ? "fence_cta" : s == Scope::gpu ? "fence_gpu" : "fence_sys"};
}

Effect membar(const Instruction& i, const DecodeContext&) {
  if (i.has("proxy")) return Fence{.proxy = true, .alias = true};
  return Fence{.order = Order::sc, .scope = membar_scope(i)};
}

// .sync_restrict::shared::cluster names the window that the fence is limited to.
Space restricted_to(const Instruction& i) {
  const std::string_view word = i.mod("restrict");
  return word.empty()                ? Space::generic
         : word.ends_with("cluster") ? Space::shared_cluster
                                     : Space::shared_cta;
}

Effect fence(const Instruction& i, const DecodeContext&) {
  return Fence{.order = decode::order(i, Order::acq_rel),
               .scope = decode::scope(i, Scope::cta),
               .window = restricted_to(i),
               .mbarrier_init = i.has("mbarrier_init")};
}

Effect proxy_fence(const Instruction& i, const DecodeContext&) {
  Fence e{.order = decode::order(i, Order::acq_rel), .scope = decode::scope(i, Scope::cta), .proxy = true};
  e.alias = i.has("alias");
  const std::string_view pair = i.mod("kind");
  if (pair == "tensormap::generic") e.to = Proxy::tensormap;
  if (pair == "async::generic" || i.has("async")) e.to = Proxy::async;
  e.window = i.has("restrict") ? restricted_to(i) : decode::space(i);
  e.address = index(i, "a");
  e.size = index(i, "size");
  return e;
}

}  // namespace

std::vector<OpDef> atomics() {
  return {
      OpDef{"atom",
            "Reads a value, combines it with b (cas: stores c if it equals b), writes the result, all in one "
            "step, and "
            "returns what was read; `_` drops it. Parallel Synchronization and Communication Instructions: "
            "atom.",
            atom_forms(), atom_timing, atom},
      OpDef{
          "red",
          "Combines b with a value in memory in one step, without returning it. Parallel Synchronization and "
          "Communication Instructions: red.",
          red_forms(), red_timing, red},
      OpDef{"fence",
            "Orders the thread's memory accesses before it with those after it, as seen by the threads of "
            "the scope; "
            "acq_rel unless named. Parallel Synchronization and Communication Instructions: membar, fence.",
            {"[6.0 sm_70] fence{.sem:sc|acq_rel}.scope:cta|gpu|sys",
             "[7.8 sm_90] fence{.sem:sc|acq_rel}.scope:cluster",
             "[8.6 sm_90] fence.sem:acquire|release.scope:%scope",
             "[8.6 sm_90] fence.sem:acquire.restrict:sync_restrict::shared::cluster.scope:cluster",
             "[8.6 sm_90] fence.sem:release.restrict:sync_restrict::shared::cta.scope:cluster",
             "[8.0 sm_90] fence.mbarrier_init.sem:release.scope:cluster"},
            fence_timing,
            fence},
      OpDef{"fence",
            "Orders accesses through one proxy with accesses through another: generic and async, tensor map, "
            "or "
            "aliased addresses. Parallel Synchronization and Communication Instructions: membar, fence.",
            {"[7.5 sm_70] fence.proxy.alias",
             "[8.0 sm_90] fence.proxy.async{.space:global|shared::cta|shared::cluster}",
             "[8.3 sm_90] fence.proxy.kind:tensormap::generic.sem:release.scope:%scope",
             "[8.3 sm_90] fence.proxy.kind:tensormap::generic.sem:acquire.scope:%scope a:mem, size:imm[128: "
             "a tensor map has 128 bytes]",
             "[8.6 sm_90] "
             "fence.proxy.kind:async::generic.sem:acquire.restrict:sync_restrict::shared::cluster.scope:"
             "cluster",
             "[8.6 sm_90] "
             "fence.proxy.kind:async::generic.sem:release.restrict:sync_restrict::shared::cta.scope:cluster"},
            fence_timing,
            proxy_fence},
      OpDef{"membar",
            "The old words of fence: cta, gl and sys are fence.sc of cta, gpu and sys. Parallel "
            "Synchronization and "
            "Communication Instructions: membar, fence.",
            {"membar.level:cta|gl|sys", "[7.5 sm_70] membar.proxy.alias"},
            membar_timing,
            membar},
  };
}

}  // namespace palladion::isa::ops
