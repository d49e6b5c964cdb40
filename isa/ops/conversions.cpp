// cvt and cvt.pack (PTX, "Data Movement and Conversion Instructions: cvt, cvt.pack").
#include "isa/core/op.h"
#include "isa/ops/cvt.h"

namespace palladion::isa::ops {
namespace {

using cvt::Request;

bool is_plain_float(Type t) { return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64; }
bool is_integer(Type t) { return kind(t) == TypeKind::signed_int || kind(t) == TypeKind::unsigned_int; }

// Two or four elements of at most eight bits.
bool is_small(Type t) { return t >= Type::e4m3x2 && t <= Type::e2m1x4; }

// Conversions of 64-bit floats, and of floats to integers, take the slow unit. On the ALU: integers to f32
// (I2FP), packs into halves and bytes (F2FP), bf16 to f32, which is a shift.
Timing timing_of(const Instruction& i) {
  if (floats::has(i, "pack")) return {Unit::alu, "cvt_pack"};
  const Type to = i.type("dtype"), from = i.type();
  if (is_integer(to) && is_integer(from)) return {Unit::alu, "alu"};
  if (is_integer(from) && to == Type::f32 && bits(from) <= 32) return {Unit::alu, "alu"};
  if (is_integer(to) || is_integer(from) || bits(to) == 64 || bits(from) == 64 || i.mod("rnd").ends_with('i'))
    return {Unit::sfu, bits(to) == 64 || bits(from) == 64 ? "cvt64" : "cvt"};
  if (from == Type::bf16) return {Unit::alu, "alu"};
  if (from == Type::f16) return {Unit::fma, "cvt_widen"};
  return {Unit::alu, is_small(to) ? "cvt_fp8" : "cvt_half"};
}

int register_width(const Instruction& i, const DecodeContext& c, std::string_view operand, Type type) {
  const int width = c.width(*i.operand(operand));
  return width != 0 ? width : std::max(8, bits(type));
}

// Of a register; bf16 has registers of its width only.
bool holds(int width, Type type) {
  return width >= bits(type) && width <= 64 && (type != Type::bf16 || width == 16);
}

LanesFn of_any_widths(const Request& r) {
  if (is_integer(r.from)) return is_integer(r.to) ? cvt::saturated_integer(r) : cvt::integer_to_float(r);
  return is_integer(r.to) ? cvt::float_to_integer(r) : cvt::float_to_float(r);
}

Pure find(const Request& r) {
  const bool integers = is_integer(r.to) && is_integer(r.from);
  const bool scalar =
      (is_integer(r.to) || is_plain_float(r.to)) && (is_integer(r.from) || is_plain_float(r.from));
  if (!scalar) return {cvt::packed(r)};
  if (!holds(r.to_width, r.to) || !holds(r.from_width, r.from)) return {};
  if (const LanesFn fn = cvt::common_halves(r)) return {fn};
  if (const LanesFn fn = integers && !r.sat ? nullptr : of_any_widths(r))
    return {.fn = fn, .constant = cvt::constant(r)};
  return {cvt::integer_to_integer(r)};
}

Effect convert(const Instruction& i, const DecodeContext& c) {
  Request r;
  r.to = i.type("dtype");
  r.from = i.type();
  r.to_width = register_width(i, c, "d", r.to);
  r.from_width = register_width(i, c, "a", r.from);
  const std::string_view rounding = i.mod("rnd");
  r.rounding = floats::rounding_named(rounding);
  r.integral = rounding.ends_with('i');
  r.ftz = floats::has(i, "ftz");
  r.sat = floats::has(i, "sat");
  r.satfinite = floats::has(i, "satfinite");
  r.relu = floats::has(i, "relu");
  if (const Pure found = find(r); found.fn != nullptr) return found;
  return decode::unsupported(i, "no conversion between registers of these widths");
}

Effect convert_stochastic(const Instruction& i, const DecodeContext&) {
  const Request r{.to = i.type("dtype"),
                  .from = i.type(),
                  .satfinite = floats::has(i, "satfinite"),
                  .relu = floats::has(i, "relu")};
  return Pure{cvt::stochastic(r)};
}

Effect pack(const Instruction& i, const DecodeContext&) {
  const std::string_view type = i.mod("ctype");
  const LanesFn fn = cvt::saturating_pack(std::stoi(std::string(type.substr(1))), type.starts_with('s'));
  return Pure{fn};
}

Effect decode_cvt(const Instruction& i, const DecodeContext& c) {
  return floats::has(i, "pack") ? pack(i, c) : convert(i, c);
}

// As ptxas 13.0 accepts them: a rounding exactly where one is needed or means something, .sat where a
// value can exceed the type.
std::vector<std::string_view> scalar_forms() {
  static const std::vector<decode::Definition> words = {
      {"$da", " =d:dtype+, a:type+"},
      {"$int", "u8|s8|u16|s16|u32|s32|u64|s64"},
      {"$irnd", "rni|rzi|rmi|rpi"},
      {"$from16", "u16|s16|u32|s32|u64|s64"},
  };
  return decode::expand(
      {
          "cvt.dtype:$int.type:$int$da",
          "cvt.sat.dtype:u8.type:s8|$from16$da",
          "cvt.sat.dtype:s8.type:u8|$from16$da",
          "cvt.sat.dtype:u16.type:s8|s16|u32|s32|u64|s64$da",
          "cvt.sat.dtype:s16.type:u16|u32|s32|u64|s64$da",
          "cvt.sat.dtype:u32.type:s8|s16|s32|u64|s64$da",
          "cvt.sat.dtype:s32.type:u32|u64|s64$da",
          "cvt.sat.dtype:u64.type:s8|s16|s32|s64$da",
          "cvt.sat.dtype:s64.type:u64$da",
          "cvt.rnd:$irnd{.sat}.dtype:$int.type:f16|f64$da",
          "cvt.rnd:$irnd{.ftz}{.sat}.dtype:$int.type:f32$da",
          "[7.8 sm_90] cvt.rnd:$irnd.dtype:$from16.type:bf16$da",
          "[7.8 sm_90] cvt.rnd:$irnd.dtype:u8|s8.type:bf16 =d:dtype, a:type",  // registers of 8 bits alone
          "cvt.rnd:%rnd{.sat}.dtype:f16|f64.type:$int$da",
          "cvt.rnd:%rnd{.ftz}{.sat}.dtype:f32.type:$int$da",
          "[7.8 sm_90] cvt.rnd:%rnd.dtype:bf16.type:$from16$da",
          "[7.8 sm_90] cvt.rnd:%rnd.dtype:bf16.type:u8|s8 =d:dtype, a:type",
          // Between floats.
          "cvt{.rnd:$irnd}{.sat}.dtype:<s:f16;f64>.type:<s:f16;f64>$da",
          "cvt{.rnd:$irnd}{.ftz}{.sat}.dtype:f32.type:f32$da",
          "[7.8 sm_90] cvt{.rnd:$irnd}.dtype:bf16.type:bf16$da",
          "cvt{.ftz}{.sat}.dtype:f32.type:f16$da",
          "cvt{.ftz}{.sat}.dtype:f64.type:f32$da",
          "cvt{.sat}.dtype:f64.type:f16$da",
          "[7.8 sm_90] cvt{.rnd:%rnd}{.ftz}.dtype:f32.type:bf16$da",
          "[7.8 sm_90] cvt{.rnd:%rnd}.dtype:f16|f64.type:bf16$da",
          "[7.8 sm_90] cvt{.rnd:%rnd}.dtype:bf16.type:f16$da",
          "cvt.rnd:%rnd{.ftz}{.sat}.dtype:<n:f16;f32>.type:<n:f32;f64>$da",
          "cvt.rnd:%rnd{.sat}.dtype:f16.type:f64$da",
          "[7.8 sm_90] cvt.rnd:%rnd.dtype:bf16.type:f64$da",
          "[7.0 sm_80] cvt.rnd:rn|rz.dtype:bf16.type:f32$da",
          "[7.8 sm_90] cvt.rnd:rm|rp{.ftz}.dtype:bf16.type:f32$da",
          "[7.8 sm_90] cvt.rnd:rn|rz.ftz.dtype:bf16.type:f32$da",
          "[7.0 sm_80] cvt.rnd:rn|rz.relu.dtype:f16|bf16.type:f32$da",
          "[8.1 sm_80] cvt.rnd:rn|rz<o:{.relu}.satfinite;.satfinite.relu>.dtype:f16|bf16.type:f32$da",
      },
      words);
}

std::vector<std::string_view> packed_forms() {
  static const std::vector<decode::Definition> words = {
      {"$families", "sm_100f|sm_110f|sm_120f"},
      {"$finite", "<o:{.relu}.satfinite;.satfinite.relu>"},
  };
  return decode::expand(
      {
          "[7.0 sm_80] cvt.rnd:rna.dtype:tf32.type:f32 =d:dtype+, a:type+",
          "[8.1 sm_80] cvt.rnd:rna.satfinite.dtype:tf32.type:f32 =d:dtype+, a:type+",
          "[7.8 sm_90] cvt.rnd:rn|rz{.relu}.dtype:tf32.type:f32 =d:dtype+, a:type+",
          "[8.6 sm_100] cvt.rnd:rn|rz<o:{.relu}.satfinite;.satfinite.relu>.dtype:tf32.type:f32 =d:dtype+, "
          "a:type+",
          "[7.0 sm_80] cvt.rnd:rn|rz{.relu}.dtype:f16x2|bf16x2.type:f32 =d:dtype+, a:type+, b:type+",
          "[8.1 sm_80] cvt.rnd:rn|rz<o:{.relu}.satfinite;.satfinite.relu>.dtype:f16x2|bf16x2.type:f32 "
          "=d:dtype+, "
          "a:type+, b:type+",
          "[8.1 sm_89] cvt.rnd:rn<o:{.relu}.satfinite;.satfinite.relu>.dtype:e4m3x2|e5m2x2.type:f32 "
          "=d:dtype+, "
          "a:type+, b:type+",
          "[8.1 sm_89] cvt.rnd:rn<o:{.relu}.satfinite;.satfinite.relu>.dtype:e4m3x2|e5m2x2.type:f16x2 "
          "=d:dtype+, "
          "a:type+",
          "[8.1 sm_89] cvt.rnd:rn{.relu}.dtype:f16x2.type:e4m3x2|e5m2x2 =d:dtype+, a:type+",
          "[8.6 $families] cvt.rnd:rn$finite.dtype:e2m3x2|e3m2x2|e2m1x2.type:f32 =d:dtype, a:type+, b:type+",
          "[8.6 $families] cvt.rnd:rn$finite.dtype:e2m1x2.type:f16x2 =d:dtype, a:type+",
          "[8.6 $families] cvt.rnd:rn{.relu}.dtype:f16x2.type:e2m3x2|e3m2x2|e2m1x2 =d:dtype+, a:type",
          "[8.6 $families] cvt.rnd:rz|rp{.satfinite}.dtype:ue8m0x2.type:f32 =d:dtype, a:type+, b:type+",
          "[8.6 $families] cvt.rnd:rz|rp{.satfinite}.dtype:ue8m0x2.type:bf16x2 =d:dtype, a:type+",
          "[8.6 $families] cvt.rnd:rn.dtype:bf16x2.type:ue8m0x2 =d:dtype+, a:type",
          "[6.5 sm_72] cvt.pack.sat.ctype:u16|s16.type:s32 =d:b32+, a:type+, b:type+",
          "[6.5 sm_72] cvt.pack.sat.ctype:u8|s8.type:s32.merge:b32 =d:merge+, a:type+, b:type+, c:merge+",
          "[6.5 sm_75] cvt.pack.sat.ctype:u4|s4|u2|s2.type:s32.merge:b32 =d:merge+, a:type+, b:type+, "
          "c:merge+",
      },
      words);
}

std::vector<std::string_view> stochastic_forms() {
  return decode::expand({
      "[8.7 sm_100a|sm_103a] cvt.rs<o:{.relu}{.satfinite};.satfinite.relu>.dtype:f16x2|bf16x2.type:f32 "
      "=d:dtype, a:type, b:type, rbits:b32",
      "[8.7 sm_100a|sm_103a] "
      "cvt.rs<o:{.relu}.satfinite;.satfinite.relu>.dtype:e4m3x4|e5m2x4|e2m3x4|e3m2x4|e2m1x4.type:f32 "
      "=d:dtype, a:type^4, rbits:b32",
  });
}

}  // namespace

std::vector<OpDef> conversions() {
  return {
      OpDef{"cvt",
            "d = a as another type, rounded and saturated as said; pairs put a above b. Data Movement and "
            "Conversion: cvt, cvt.pack.",
            joined({scalar_forms(), packed_forms()}), timing_of, decode_cvt, Operation::convert},
      OpDef{"cvt",
            "Converts two or four f32 with stochastic rounding by the bits of rbits. Data Movement and "
            "Conversion: cvt.",
            stochastic_forms(), Timing{Unit::alu, "cvt_fp8"}, convert_stochastic, Operation::convert}};
}

}  // namespace palladion::isa::ops
