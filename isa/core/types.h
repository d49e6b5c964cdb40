#pragma once
// PTX's fundamental and alternate types, state spaces, scopes and orders, shared by all layers.
#include <cstdint>
#include <optional>
#include <string_view>

namespace palladion::isa {

enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  f32x2,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m3,
  e3m2,
  e2m1,
  e2m3x2,
  e3m2x2,
  e2m1x2,
  ue8m0x2,
  e4m3x4,
  e5m2x4,
  e2m3x4,
  e3m2x4,
  e2m1x4,
  s4,
  u4,
  b1,
  texref,  // opaque: handles of 64 bits
  samplerref,
  surfref
};

enum class TypeKind : uint8_t { untyped, predicate, unsigned_int, signed_int, floating };

// .texref, .samplerref, .surfref
inline bool is_opaque(Type t) { return t == Type::texref || t == Type::samplerref || t == Type::surfref; }

// Size of one value in bits; pred is 1.
int bits(Type type);
inline int bytes(Type type) { return (bits(type) + 7) / 8; }
TypeKind kind(Type type);
inline bool is_float(Type t) { return kind(t) == TypeKind::floating; }
inline bool is_signed(Type t) { return kind(t) == TypeKind::signed_int; }
std::string_view name(Type type);                    // "f16x2", without the dot
std::optional<Type> type_named(std::string_view s);  // "f16x2"

// State spaces (PTX, "State Spaces"). `generic` is the absence of a space.
// `tensor` is tensor memory, which PTX addresses without a space's word.
enum class Space : uint8_t {
  generic,
  reg,
  sreg,
  const_,
  global,
  local,
  param,
  shared_cta,
  shared_cluster,
  tensor
};
std::string_view name(Space space);
std::optional<Space> space_named(std::string_view s);  // "shared" and "shared::cta" are the same

// Memory consistency (PTX, "Memory Consistency Model").
enum class Order : uint8_t { weak, volatile_, relaxed, acquire, release, acq_rel, sc, mmio };
enum class Scope : uint8_t { cta, cluster, gpu, sys };
std::optional<Order> order_named(std::string_view s);
std::optional<Scope> scope_named(std::string_view s);
std::string_view name(Order order);
std::string_view name(Scope scope);

enum class Proxy : uint8_t { generic, async, tensormap };

// Special registers (PTX, "Special Registers"); vectors have a component.
enum class Special : uint8_t {
  tid,
  ntid,
  laneid,
  warpid,
  nwarpid,
  ctaid,
  nctaid,
  smid,
  nsmid,
  gridid,
  clusterid,
  nclusterid,
  cluster_ctaid,
  cluster_nctaid,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  total_smem_size,
  dynamic_smem_size,
  aggr_smem_size,
  current_graph_exec,
  envreg,
  pm,
  reserved_smem_offset_begin,
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  reserved_smem_offset_0,
  reserved_smem_offset_1,
  pm_64
};

}  // namespace palladion::isa
