// Matrix multiply-accumulate: wgmma, mma.sync (PTX, "Asynchronous Warpgroup Level
// Matrix Instructions", "Warp Level Matrix Multiply-Accumulate Instructions").
#include <fmt/format.h>

#include "isa/formats/fragments.h"
#include "isa/ops/decode.h"

namespace palladion::isa {
namespace {
uint32_t multiplications(int m, int n, int k) { return static_cast<uint32_t>(m * n * k); }

Footprint wgmma_group(Async::Role role, int groups_left = 0) {
  return {.participants = Participants::warpgroup,
          .async = {.role = role,
                    .family = AsyncFamily::wgmma,
                    .group = AsyncGroup::wgmma,
                    .groups_left = groups_left}};
}
}  // namespace

// --- what they touch -----------------------------------------------------------------------------------
Footprint Wgmma::footprint() const {
  Footprint f = wgmma_group(Async::Role::issues);
  const auto matrix = [](int descriptor) {
    return MemoryUse{.space = Space::shared_cta, .proxy = Proxy::async, .reads = true, .address = descriptor};
  };
  f.values = Values::tensor;
  if (a_desc >= 0)
    f.memory = {matrix(a_desc), matrix(b_desc)};
  else
    f.memory = {matrix(b_desc)};
  f.control = {a_desc, b_desc, scale_d};
  f.products = multiplications(m, n, k);
  return f;
}

Footprint WgmmaFence::footprint() const { return wgmma_group(Async::Role::orders); }
Footprint WgmmaCommit::footprint() const { return wgmma_group(Async::Role::commits); }
Footprint WgmmaWait::footprint() const { return wgmma_group(Async::Role::waits, n); }
Footprint Mma::footprint() const {
  return {.values = Values::tensor, .participants = Participants::warp, .products = multiplications(m, n, k)};
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;
using decode::shape_of;
using Shape = decode::MatrixShape;

bool has_registers(const Instruction& i, int operand, const FragmentLayout& fragment) {
  const Operand& o = i.operands[operand];
  return fragment.registers == (o.is(Operand::Kind::vector) ? static_cast<int>(o.elements.size()) : 1);
}

// --- wgmma ----------------------------------------------------------------------------------------------
constexpr Timing wgmma_timing{Unit::tensor, "wgmma"};
Timing group_timing(const Instruction& i) {
  return {Unit::sync, i.has("fence") ? "wgmma_fence" : i.has("commit_group") ? "wgmma_commit" : "wgmma_wait"};
}

Effect wgmma(const Instruction& i, const DecodeContext&) {
  const Shape shape = shape_of(i);
  Wgmma e{.m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .d = i.type("dtype"),
          .a = i.type("atype"),
          .b = i.type("btype")};
  e.sparse = i.has("sp");
  e.satfinite = i.has("satfinite");
  e.acc = index(i, "d");
  const int a = index(i, "a");
  (i.operands[a].is(Operand::Kind::vector) ? e.a_regs : e.a_desc) = a;
  e.b_desc = index(i, "b");
  e.scale_d = index(i, "scale_d");
  e.scale_a = index(i, "scale_a");
  e.scale_b = index(i, "scale_b");
  e.trans_a = index(i, "trans_a");
  e.trans_b = index(i, "trans_b");
  e.metadata = index(i, "metadata");
  e.selector = index(i, "selector");
  const FragmentLayout d = wgmma_d(e.n, bits(e.d));
  if (!has_registers(i, e.acc, d))
    return decode::unsupported(i, fmt::format("the accumulator takes {} registers", d.registers));
  if (e.a_regs >= 0 && !has_registers(i, e.a_regs, wgmma_a(bits(e.a))))
    return decode::unsupported(i, "A takes 4 registers");
  return e;
}

Effect wgmma_group(const Instruction& i, const DecodeContext&) {
  if (i.has("fence")) return WgmmaFence{};
  if (i.has("commit_group")) return WgmmaCommit{};
  return WgmmaWait{.n = decode::immediate(i, "n")};
}

// "m64n8k16|m64n16k16|...": every multiple of 8, or those that integers have.
std::string_view shapes(int k, bool integers) {
  std::string list;
  for (int n = 8; n <= 256; n += integers && n >= 32 ? 16 : 8)
    list += fmt::format("{}m64n{}k{}", list.empty() ? "" : "|", n, k);
  return decode::keep(list);
}

// Sparse operands double k and add the metadata. A is a descriptor, or 4 registers; which one is
// from the operand where their number does not determine it.
std::vector<std::string_view> wgmma_forms(bool sparse) {
  const int factor = sparse ? 2 : 1;
  const decode::Definition words[] = {
      {"$mma", sparse ? "wgmma.mma_async.sp.sync.aligned" : "wgmma.mma_async.sync.aligned"},
      {"$since", sparse ? "[8.2 sm_90a] " : "[8.0 sm_90a] "},
      {"$bytes", "<x:.atype:s8.btype:s8;.atype:u8.btype:u8;.atype:s8.btype:u8;.atype:u8.btype:s8>"},
      {"$k16", shapes(16 * factor, false)},
      {"$k8", shapes(8 * factor, false)},
      {"$k32", shapes(32 * factor, false)},
      {"$int", shapes(32 * factor, true)},
      {"$bit", shapes(256, true)},
      {"$meta", sparse ? ", metadata:b32, selector:imm" : ""},
      {"$scales", "scale_d:pred, scale_a:imm[-1|1], scale_b:imm[-1|1]"},
      {"$halves",
       "<t:.dtype:f32.atype:f16.btype:f16;.dtype:f16.atype:f16.btype:f16;.dtype:f32.atype:bf16.btype:bf16>"},
      {"$half_acc", "<t:+d:f32^*;+d:b32^*;+d:f32^*>"},
      {"$fp8", "<t:.dtype:f32;.dtype:f16>.atype:e4m3|e5m2.btype:e4m3|e5m2"},
      {"$fp8_acc", "<t:+d:f32^*;+d:b32^*>"},
  };
  std::vector<std::string_view> forms = decode::expand(
      {"$since$mma.shape:$k16$halves $half_acc, a:b64, b:b64$meta, $scales, trans_a:imm[0..1], "
       "trans_b:imm[0..1]",
       "$since$mma.shape:$k16$halves $half_acc, a:b32^4, b:b64$meta, $scales, trans_b:imm[0..1]",
       "$since$mma.shape:$k8.dtype:f32.atype:tf32.btype:tf32 +d:f32^*, a:any, b:b64$meta, $scales",
       "$since$mma.shape:$k32$fp8 $fp8_acc, a:any, b:b64$meta, $scales",
       "<x:$since;$since;[8.4 sm_90a] ;[8.4 sm_90a] >$mma.shape:$int{.satfinite}.dtype:s32$bytes +d:b32^*, "
       "a:any, b:b64$meta, scale_d:pred"},
      words);
  if (sparse) return forms;
  for (const auto form : decode::expand(
           {"$since$mma.shape:$bit.dtype:s32.atype:b1.btype:b1.op:and.popc +d:b32^*, a:any, b:b64, "
            "scale_d:pred"},
           words))
    forms.push_back(form);
  return forms;
}

// --- mma ------------------------------------------------------------------------------------------------
Timing mma_timing(const Instruction& i) {
  switch (i.type("atype")) {
    case Type::f64:
      return {Unit::fp64, "mma_f64"};
    case Type::tf32:
      return {Unit::tensor, "mma_tf32"};
    case Type::f16:
    case Type::bf16:
      return {Unit::tensor, "mma_f16"};
    case Type::e4m3:
    case Type::e5m2:
      return {Unit::tensor, "mma_fp8"};
    default:
      return {Unit::tensor, "mma_int"};
  }
}

MmaRounding rounding_of(std::string_view word) {
  using enum MmaRounding;
  return word == "rz" ? zero : word == "rm" ? down : word == "rp" ? up : nearest;
}

Effect mma(const Instruction& i, const DecodeContext&) {
  const Shape shape = shape_of(i);
  Mma e{.m = shape.m,
        .n = shape.n,
        .k = shape.k,
        .d = i.type("dtype"),
        .a = i.type("atype"),
        .b = i.type("btype"),
        .c = i.type("ctype")};
  e.a_row = i.mod("alayout") == "row";
  e.b_col = i.mod("blayout") == "col";
  e.satfinite = i.has("satfinite");
  e.sparse = i.has("sparse");
  e.xor_popc = i.mod("bit") == "xor";
  e.rounding = rounding_of(i.mod("rnd"));
  e.dst = index(i, "d");
  e.ra = index(i, "a");
  e.rb = index(i, "b");
  e.rc = index(i, "c");
  e.metadata = index(i, "metadata");
  e.selector = index(i, "selector");
  // Volta's m8n8k4 of halves is four products, one for each eight threads: its form states the registers.
  const bool volta = i.mod("shape") == "m8n8k4" && e.a == Type::f16;
  const bool fits = volta || (has_registers(i, e.dst, mma_c(e.m, bits(e.d))) &&
                              has_registers(i, e.ra, mma_a(e.m, e.sparse ? e.k / 2 : e.k, bits(e.a))) &&
                              has_registers(i, e.rb, mma_b(e.k, bits(e.b))) &&
                              has_registers(i, e.rc, mma_c(e.m, bits(e.c))));
  if (!fits) return decode::unsupported(i, "the number of registers is not that of the shape");
  return e;
}

Effect later_mma(const Instruction& i, const DecodeContext&) {
  return decode::unsupported(
      i, "products of small floats by a warp, which begin with sm_100f and sm_120f, are not modelled");
}

constexpr decode::Definition mma_words[] = {
    {"$mma", "mma.sync.aligned"},
    {"$sp", "mma.sparse:<p:sp;sp::ordered_metadata>.sync.aligned"},
    {"$layout", ".alayout:row.blayout:col"},
    {"$free", ".alayout:row|col.blayout:row|col"},
    {"$half", "<d:.dtype:f32.atype:f16.btype:f16.ctype:f32;.dtype:f16.atype:f16.btype:f16.ctype:f16>"},
    {"$half_d", "<d:=d:f32^4;=d:b32^2>"},
    {"$half_c", "<d:c:f32^4;c:b32^2>"},
    {"$fp8",
     "<d:.dtype:f32.atype:e4m3|e5m2.btype:e4m3|e5m2.ctype:f32;.dtype:f16.atype:e4m3|e5m2.btype:e4m3|e5m2."
     "ctype:f16>"},
    {"$bf16", ".dtype:f32.atype:bf16.btype:bf16.ctype:f32"},
    {"$tf32", ".dtype:f32.atype:tf32.btype:tf32.ctype:f32"},
    {"$f64", "{.rnd:%rnd}.dtype:f64.atype:f64.btype:f64.ctype:f64"},
    {"$s8", "{.satfinite}.dtype:s32.atype:u8|s8.btype:u8|s8.ctype:s32"},
    {"$s4", "{.satfinite}.dtype:s32.atype:u4|s4.btype:u4|s4.ctype:s32"},
    {"$b1", ".dtype:s32.atype:b1.btype:b1.ctype:s32.bit:xor|and.popc"},
    {"$meta", ", metadata:b32, selector:imm"},
};

std::vector<std::string_view> float_mma_forms() {
  return decode::expand(
      {"[6.4 sm_70] $mma.shape:m8n8k4$free.dtype:f32.atype:f16.btype:f16.ctype:f32 =d:f32^8, a:b32^2, "
       "b:b32^2, c:f32^8",
       "[6.4 sm_70] $mma.shape:m8n8k4$free.dtype:f32.atype:f16.btype:f16.ctype:f16 =d:f32^8, a:b32^2, "
       "b:b32^2, c:b32^4",
       "[6.4 sm_70] $mma.shape:m8n8k4$free.dtype:f16.atype:f16.btype:f16.ctype:f16 =d:b32^4, a:b32^2, "
       "b:b32^2, c:b32^4",
       "[6.5 sm_75] $mma.shape:m16n8k8$layout$half $half_d, a:b32^2, b:b32^*, $half_c",
       "[7.0 sm_80] $mma.shape:m16n8k16$layout$half $half_d, a:b32^4, b:b32^2, $half_c",
       "[7.0 sm_80] $mma.shape:m16n8k8$layout$bf16 =d:f32^4, a:b32^2, b:b32^*, c:f32^4",
       "[7.0 sm_80] $mma.shape:m16n8k16$layout$bf16 =d:f32^4, a:b32^4, b:b32^2, c:f32^4",
       "[7.0 sm_80] $mma.shape:m16n8k4$layout$tf32 =d:f32^4, a:b32^2, b:b32^*, c:f32^4",
       "[7.0 sm_80] $mma.shape:m16n8k8$layout$tf32 =d:f32^4, a:b32^4, b:b32^2, c:f32^4",
       "[<d:8.4;8.7> sm_89] $mma.shape:m16n8k32$layout$fp8 $half_d, a:b32^4, b:b32^2, $half_c",
       "[8.7 sm_89] $mma.shape:m16n8k16$layout$fp8 $half_d, a:b32^2, b:b32^*, $half_c",
       "[7.0 sm_80] $mma.shape:m8n8k4$layout$f64 =d:f64^2, a:f64^*, b:f64^*, c:f64^2",
       "[7.8 sm_90] $mma.shape:m16n8k4$layout$f64 =d:f64^4, a:f64^2, b:f64^*, c:f64^4",
       "[7.8 sm_90] $mma.shape:m16n8k8$layout$f64 =d:f64^4, a:f64^4, b:f64^2, c:f64^4",
       "[7.8 sm_90] $mma.shape:m16n8k16$layout$f64 =d:f64^4, a:f64^8, b:f64^4, c:f64^4"},
      mma_words);
}

std::vector<std::string_view> integer_mma_forms() {
  return decode::expand({"[6.5 sm_75] $mma.shape:m8n8k16$layout$s8 =d:b32^2, a:b32^*, b:b32^*, c:b32^2",
                         "[7.0 sm_80] $mma.shape:m16n8k16$layout$s8 =d:b32^4, a:b32^2, b:b32^*, c:b32^4",
                         "[7.0 sm_80] $mma.shape:m16n8k32$layout$s8 =d:b32^4, a:b32^4, b:b32^2, c:b32^4",
                         "[6.5 sm_75] $mma.shape:m8n8k32$layout$s4 =d:b32^2, a:b32^*, b:b32^*, c:b32^2",
                         "[7.0 sm_80] $mma.shape:m16n8k32$layout$s4 =d:b32^4, a:b32^2, b:b32^*, c:b32^4",
                         "[7.0 sm_80] $mma.shape:m16n8k64$layout$s4 =d:b32^4, a:b32^4, b:b32^2, c:b32^4",
                         "[7.0 sm_75] $mma.shape:m8n8k128$layout$b1 =d:b32^2, a:b32^*, b:b32^*, c:b32^2",
                         "[7.0 sm_80] $mma.shape:m16n8k128$layout$b1 =d:b32^4, a:b32^2, b:b32^*, c:b32^4",
                         "[7.0 sm_80] $mma.shape:m16n8k256$layout$b1 =d:b32^4, a:b32^4, b:b32^2, c:b32^4"},
                        mma_words);
}

std::vector<std::string_view> sparse_mma_forms() {
  return decode::expand(
      {"[<p:7.1;8.5> sm_80] $sp.shape:m16n8k16$layout$half $half_d, a:b32^2, b:b32^2, $half_c$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k32$layout$half $half_d, a:b32^4, b:b32^4, $half_c$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k16$layout$bf16 =d:f32^4, a:b32^2, b:b32^2, c:f32^4$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k32$layout$bf16 =d:f32^4, a:b32^4, b:b32^4, c:f32^4$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k8$layout$tf32 =d:f32^4, a:b32^2, b:b32^2, c:f32^4$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k16$layout$tf32 =d:f32^4, a:b32^4, b:b32^4, c:f32^4$meta",
       "[<p:8.4;8.5> sm_89] $sp.shape:m16n8k64$layout.dtype:f32.atype:e4m3|e5m2.btype:e4m3|e5m2.ctype:f32 "
       "=d:f32^4, a:b32^4, b:b32^4, c:f32^4$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k32$layout$s8 =d:b32^4, a:b32^2, b:b32^2, c:b32^4$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k64$layout$s8 =d:b32^4, a:b32^4, b:b32^4, c:b32^4$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k64$layout$s4 =d:b32^4, a:b32^2, b:b32^2, c:b32^4$meta",
       "[<p:7.1;8.5> sm_80] $sp.shape:m16n8k128$layout$s4 =d:b32^4, a:b32^4, b:b32^4, c:b32^4$meta"},
      mma_words);
}

std::vector<OpDef> wgmma_defs() {
  return {
      OpDef{
          "wgmma",
          "D = A B + D for a warpgroup: B, and A unless it is in registers, come from shared memory through "
          "descriptors; runs asynchronously in the current group. Asynchronous Warpgroup Level Matrix "
          "Instructions: "
          "wgmma.mma_async.",
          wgmma_forms(false), wgmma_timing, wgmma},
      OpDef{"wgmma",
            "The same with A 2:4 sparse, the positions of its elements in metadata. Asynchronous Warpgroup "
            "Level Matrix "
            "Instructions: wgmma.mma_async.sp.",
            wgmma_forms(true), wgmma_timing, wgmma},
      OpDef{"wgmma",
            "Orders register accesses with wgmma.mma_async (fence), makes the operations so far a group, or "
            "waits until "
            "at most n groups are pending. Asynchronous Warpgroup Level Matrix Instructions: wgmma.fence, "
            "wgmma.commit_group, wgmma.wait_group.",
            {"[8.0 sm_90a] wgmma.fence.sync.aligned", "[8.0 sm_90a] wgmma.commit_group.sync.aligned",
             "[8.0 sm_90a] wgmma.wait_group.sync.aligned n:imm[0..]"},
            group_timing,
            wgmma_group},
  };
}

// As ptxas 13.0 has them, the 8-bit ones also for sm_100f; A of mma.sp is 2:4 sparse. A scale operand is
// followed by the byte and the thread that hold the scales.
std::vector<std::string_view> later_mma_forms() {
  static constexpr decode::Definition words[] = {
      {"$need", "[8.7 sm_120f]"},
      {"$family", "[8.7 sm_100f|sm_110f|sm_120f]"},
      {"$words", ".alayout:row.blayout:col.kind:kind::f8f6f4"},
      {"$fours_need", "[8.7 <p:sm_120f;sm_120a|sm_121a>]"},
      {"$mma", "mma<p:;.sp::ordered_metadata>.sync.aligned"},
      {"$k32", "<p:.shape:m16n8k32;.shape:m16n8k64>.alayout:row.blayout:col"},
      {"$k64", "<p:.shape:m16n8k64;.shape:m16n8k128>.alayout:row.blayout:col"},
      {"$small", "e4m3|e5m2|e3m2|e2m3|e2m1"},
      {"$eight", "e4m3|e5m2"},
      {"$six", "e3m2|e2m3|e2m1"},
      {"$f8f6f4", "$mma$k32.kind:kind::f8f6f4<d:.dtype:f32;.dtype:f16>"},
      {"$added", "<d:.ctype:f32;.ctype:f16> =d:<d:f32^4;b32^2>, $factors, c:<d:f32^4;b32^2>$meta"},
      {"$types", ".dtype:f32.atype:$small.btype:$small.ctype:f32"},
      {"$fours", ".dtype:f32.atype:e2m1.btype:e2m1.ctype:f32"},
      {"$factors", "a:b32^4, b:b32<p:^2;^4>"},
      {"$meta", "<p:;, metadata:b32, selector:imm[0]>"},
      {"$scales", "$meta, scale_a:b32, place_a:u16^2, scale_b:b32, place_b:u16^2"},
  };
  return decode::expand(
      {"$family mma.sync.aligned.shape:m16n8k32$words<d:.dtype:f32;.dtype:f16>.atype:$eight.btype:$eight"
       "<d:.ctype:f32;.ctype:f16> =d:<d:f32^4;b32^2>, a:b32^4, b:b32^2, c:<d:f32^4;b32^2>",
       "<d:$family;$need> mma.sp::ordered_metadata.sync.aligned.shape:m16n8k64$words<d:.dtype:f32;.dtype:f16>"
       ".atype:$eight.btype:$eight<d:.ctype:f32;.ctype:f16> =d:<d:f32^4;b32^2>, a:b32^4, b:b32^4, "
       "c:<d:f32^4;b32^2>, metadata:b32, selector:imm[0]",
       "$need $f8f6f4<t:.atype:$eight.btype:$six;.atype:$six.btype:$small>$added",
       "$need $mma$k32.kind:kind::mxf8f6f4.block_scale{.size:scale_vec::1X}$types.stype:ue8m0 =d:f32^4, "
       "$factors, "
       "c:f32^4$scales",
       "$fours_need $mma$k64.kind:kind::mxf4.block_scale{.size:scale_vec::2X}$fours.stype:ue8m0 =d:f32^4, "
       "$factors, "
       "c:f32^4$scales",
       "$fours_need $mma$k64.kind:kind::mxf4nvf4.block_scale<s:.size:scale_vec::2X;.size:scale_vec::4X>$fours"
       "<s:.stype:ue8m0;.stype:ue4m3> =d:f32^4, $factors, c:f32^4$scales"},
      words);
}

std::vector<OpDef> mma_defs() {
  return {
      OpDef{"mma",
            "D = A B + C by the threads of a warp, on floating-point fragments. Warp Level Matrix "
            "Multiply-Accumulate "
            "Instructions: mma.",
            float_mma_forms(), mma_timing, mma},
      OpDef{"mma",
            "D = A B + C on integers, or the population count of combined bits. Warp Level Matrix "
            "Multiply-Accumulate "
            "Instructions: mma.",
            integer_mma_forms(), mma_timing, mma},
      OpDef{"mma",
            "D = A B + C with A 2:4 sparse. Warp Level Matrix Multiply-Accumulate Instructions: mma.sp.",
            sparse_mma_forms(), mma_timing, mma},
      OpDef{"mma",
            "D = A B + C on floats of 8, 6 and 4 bits, with a scale for each block of A and B where it says "
            "so. "
            "Warp Level Matrix Multiply-Accumulate Instructions: mma, mma.sp.",
            later_mma_forms(), mma_timing, later_mma},
  };
}

}  // namespace

std::vector<OpDef> matrix() { return joined({wgmma_defs(), mma_defs()}); }

}  // namespace palladion::isa::ops
