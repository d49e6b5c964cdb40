// wmma: matrices in fragments of a layout that PTX leaves open (PTX, "Warp Level Matrix Multiply-Accumulate
// Instructions": wmma.load, wmma.mma, wmma.store).
#include "isa/formats/wmma_fragments.h"
#include "isa/ops/decode.h"

namespace palladion::isa {
namespace {

uint32_t bytes_of(int elements, Type type) { return static_cast<uint32_t>(elements * bits(type) / 8); }

}  // namespace

// --- what they touch -----------------------------------------------------------------------------------
// The lanes' addresses are one; each reads a part of the matrix.
Footprint WmmaLoad::footprint() const {
  const wmma::Size size = wmma::size_of(matrix, m, n, k);
  return {.values = Values::loaded,
          .memory = {{.space = space,
                      .reads = true,
                      .address = address,
                      .bytes = bytes_of(row ? size.cols : size.rows, type)}},
          .control = {stride},
          .participants = Participants::warp};
}
Footprint WmmaStore::footprint() const {
  return {
      .values = Values::stored,
      .memory = {{.space = space, .writes = true, .address = address, .bytes = bytes_of(row ? n : m, type)}},
      .control = {stride},
      .participants = Participants::warp};
}
Footprint Wmma::footprint() const {
  return {.values = Values::tensor,
          .participants = Participants::warp,
          .products = static_cast<uint32_t>(m * n * k)};
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;
using decode::shape_of;
using Shape = decode::MatrixShape;

bool has_registers(const Instruction& i, int operand, WmmaMatrix matrix, const Shape& s, Type type) {
  const Operand& o = i.operands[static_cast<size_t>(operand)];
  const auto written = o.is(Operand::Kind::vector) ? o.elements.size() : 1;
  return written == static_cast<size_t>(wmma::registers(matrix, s.m, s.n, s.k, type));
}

constexpr std::string_view wrong_registers = "the number of registers is not that of the shape";

Effect load(const Instruction& i, const DecodeContext&) {
  const Shape s = shape_of(i);
  const std::string_view matrix = i.mod("matrix");
  const WmmaLoad e{.m = s.m,
                   .n = s.n,
                   .k = s.k,
                   .matrix = matrix == "a"   ? WmmaMatrix::a
                             : matrix == "b" ? WmmaMatrix::b
                                             : WmmaMatrix::c,
                   .type = i.type(),
                   .space = decode::space(i),
                   .row = i.mod("layout") == "row",
                   .dst = index(i, "r"),
                   .address = index(i, "a"),
                   .stride = index(i, "stride")};
  if (!has_registers(i, e.dst, e.matrix, s, e.type)) return decode::unsupported(i, wrong_registers);
  return e;
}

Effect store(const Instruction& i, const DecodeContext&) {
  const Shape s = shape_of(i);
  const WmmaStore e{.m = s.m,
                    .n = s.n,
                    .k = s.k,
                    .type = i.type(),
                    .space = decode::space(i),
                    .row = i.mod("layout") == "row",
                    .address = index(i, "a"),
                    .src = index(i, "r"),
                    .stride = index(i, "stride")};
  if (!has_registers(i, e.src, WmmaMatrix::c, s, e.type)) return decode::unsupported(i, wrong_registers);
  return e;
}

MmaRounding rounding_of(std::string_view word) {
  using enum MmaRounding;
  return word == "rz" ? zero : word == "rm" ? down : word == "rp" ? up : nearest;
}

Effect product(const Instruction& i, const DecodeContext&) {
  const Shape s = shape_of(i);
  Wmma e{.m = s.m, .n = s.n, .k = s.k, .d = i.type("dtype"), .c = i.type("ctype")};
  if (i.form->slot("atype") >= 0) {
    e.a = i.type("atype");
    e.b = i.type("btype");
  }
  e.satfinite = i.form->slot("satfinite") >= 0 && i.has("satfinite");
  e.xor_popc = i.form->slot("bit") >= 0 && i.mod("bit") == "xor";
  if (i.form->slot("rnd") >= 0) e.rounding = rounding_of(i.mod("rnd"));
  e.dst = index(i, "d");
  e.ra = index(i, "a");
  e.rb = index(i, "b");
  e.rc = index(i, "c");
  const bool fits =
      has_registers(i, e.dst, WmmaMatrix::c, s, e.d) && has_registers(i, e.ra, WmmaMatrix::a, s, e.a) &&
      has_registers(i, e.rb, WmmaMatrix::b, s, e.b) && has_registers(i, e.rc, WmmaMatrix::c, s, e.c);
  if (!fits) return decode::unsupported(i, wrong_registers);
  return e;
}

Effect wmma_effect(const Instruction& i, const DecodeContext& c) {
  return i.has("load") ? load(i, c) : i.has("store") ? store(i, c) : product(i, c);
}

std::vector<std::string_view> wmma_forms() {
  constexpr decode::Definition words[] = {
      {"$load", "wmma.load.matrix:a|b.sync.aligned.layout:row|col"},
      {"$load_c", "wmma.load.matrix:c.sync.aligned.layout:row|col"},
      {"$load_row", "wmma.load.matrix:a.sync.aligned.layout:row"},
      {"$load_col", "wmma.load.matrix:b.sync.aligned.layout:col"},
      {"$store", "wmma.store.d.sync.aligned.layout:row|col"},
      {"$mma", "wmma.mma.sync.aligned.alayout:row|col.blayout:row|col"},
      {"$row_col", ".sync.aligned.alayout:row.blayout:col"},
      {"$three", ".shape:m16n16k16|m8n32k16|m32n8k16"},
      {"$space", "{.space:global|shared|shared::cta}"},
      {"$from", "=r:b32^*, a:mem, stride?:u32"},
      {"$product", "=d:b32^*, a:b32^*, b:b32^*, c:b32^*"},
  };
  return decode::expand(
      {"[6.0 sm_70] $load$three$space.type:f16|bf16|u8|s8 $from",
       "[6.0 sm_70] $load_c$three$space.type:f16|s32 $from",
       "[6.0 sm_70] $load_c$three$space.type:f32 =r:f32^*, a:mem, stride?:u32",
       "[7.0 sm_80] $load.shape:m16n16k8$space.type:tf32 $from",
       "[7.0 sm_80] $load_c.shape:m16n16k8$space.type:f32 =r:f32^*, a:mem, stride?:u32",
       "[7.0 sm_80] wmma.load.matrix:a|b|c.sync.aligned.layout:row|col.shape:m8n8k4$space.type:f64 "
       "=r:f64^*, a:mem, stride?:u32",
       "[6.3 sm_75] <l:$load_row;$load_col>.shape:m8n8k32$space.type:u4|s4 $from",
       "[6.3 sm_75] <l:$load_row;$load_col>.shape:m8n8k128$space.type:b1 $from",
       "[6.3 sm_75] $load_c.shape:m8n8k32|m8n8k128$space.type:s32 $from",
       "[6.0 sm_70] $store$three$space.type:f16|s32 a:mem, r:b32^*, stride?:u32",
       "[6.0 sm_70] $store<s:$three;.shape:m16n16k8>$space.type:f32 a:mem, r:f32^*, stride?:u32",
       "[7.0 sm_80] $store.shape:m8n8k4$space.type:f64 a:mem, r:f64^*, stride?:u32",
       "[6.3 sm_75] $store.shape:m8n8k32|m8n8k128$space.type:s32 a:mem, r:b32^*, stride?:u32",
       "[6.0 sm_70] $mma$three.dtype:f16.ctype:f16 $product",
       "[6.0 sm_70] $mma$three.dtype:f32.ctype:f32 =d:f32^*, a:b32^*, b:b32^*, c:f32^*",
       "[6.0 sm_70] $mma$three.dtype:f32.ctype:f16 =d:f32^*, a:b32^*, b:b32^*, c:b32^*",
       "[6.0 sm_70] $mma$three.dtype:f16.ctype:f32 =d:b32^*, a:b32^*, b:b32^*, c:f32^*",
       "[6.3 sm_72] $mma$three.dtype:s32<t:.atype:s8.btype:s8;.atype:u8.btype:u8>.ctype:s32{.satfinite} "
       "$product",
       "[6.3 sm_75] "
       "wmma.mma$row_col.shape:m8n8k32.dtype:s32<t:.atype:s4.btype:s4;.atype:u4.btype:u4>.ctype:s32"
       "{.satfinite} $product",
       "[7.1 sm_80] wmma.mma.bit:xor|and.popc$row_col.shape:m8n8k128.dtype:s32.atype:b1.btype:b1.ctype:s32 "
       "$product",
       "[7.0 sm_80] $mma$three.dtype:f32.atype:bf16.btype:bf16.ctype:f32 =d:f32^*, a:b32^*, b:b32^*, c:f32^*",
       "[7.0 sm_80] $mma.shape:m16n16k8.dtype:f32.atype:tf32.btype:tf32.ctype:f32 =d:f32^*, a:b32^*, "
       "b:b32^*, c:f32^*",
       "[7.0 sm_80] $mma.shape:m8n8k4{.rnd:%rnd}.dtype:f64.atype:f64.btype:f64.ctype:f64 "
       "=d:f64^*, a:f64^*, b:f64^*, c:f64^*"},
      words);
}

}  // namespace

std::vector<OpDef> wmma() {
  return {
      OpDef{"wmma",
            "Loads, multiplies or stores matrices in fragments of unspecified layout. Warp Level Matrix "
            "Multiply-Accumulate Instructions: wmma.load, wmma.mma, wmma.store.",
            wmma_forms(), Timing{Unit::tensor, "wmma"}, wmma_effect},
  };
}

}  // namespace palladion::isa::ops
