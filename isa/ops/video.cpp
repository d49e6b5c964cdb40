// Video instructions: parts of 32-bit values, with saturation, a second operation or a merge (PTX, "Scalar
// Video Instructions", "SIMD Video Instructions").
#include <algorithm>

#include "isa/core/selector.h"
#include "isa/ops/decode.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::ops {
namespace {

enum class Op : uint8_t { add, sub, absdiff, min, max, avrg, shl, shr, mad, set };
enum class Second : uint8_t { none, add, merge };
enum class Relation : uint8_t { eq, ne, lt, le, gt, ge };

// What an instruction's words say; travels to the lanes as a constant of 64 bits.
struct Words {
  uint64_t op : 4, second : 3, relation : 3;
  uint64_t d_signed : 1, a_signed : 1, b_signed : 1, saturate : 1, wrap : 1, plus_one : 1, shift : 4;
  uint64_t has_c : 1;
  uint64_t parts : 3;  // 1: a scalar instruction, 2 halves, 4 bytes
  uint64_t a_select : 12, b_select : 12, d_select : 12;
  uint64_t unused : 2;
};
static_assert(sizeof(Words) == 8);

// Of scalar instructions a selector is 0: all, 1 to 4: .b0 to .b3, 5 and 6: .h0 and .h1.
int64_t part(uint32_t v, uint64_t select, bool is_signed) {
  int width = 32, shift = 0;
  if (select >= 1 && select <= 4) {
    width = 8;
    shift = static_cast<int>(select - 1) * 8;
  } else if (select >= 5) {
    width = 16;
    shift = static_cast<int>(select - 5) * 16;
  }
  const uint64_t bits = (uint64_t{v} >> shift) & ((uint64_t{1} << width) - 1);
  const int up = 64 - width;
  return is_signed ? static_cast<int64_t>(bits << up) >> up : static_cast<int64_t>(bits);
}

int64_t clamp_to(int64_t v, int width, bool is_signed) {
  const int64_t most = is_signed ? (int64_t{1} << (width - 1)) - 1 : (int64_t{1} << width) - 1;
  const int64_t least = is_signed ? -(int64_t{1} << (width - 1)) : 0;
  return std::clamp(v, least, most);
}

bool holds(Relation r, int64_t a, int64_t b) {
  switch (r) {
    case Relation::eq:
      return a == b;
    case Relation::ne:
      return a != b;
    case Relation::lt:
      return a < b;
    case Relation::le:
      return a <= b;
    case Relation::gt:
      return a > b;
    case Relation::ge:
      return a >= b;
  }
  return false;
}

int64_t computed(const Words& w, int64_t a, int64_t b) {
  switch (static_cast<Op>(w.op)) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::absdiff:
      return a > b ? a - b : b - a;
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::avrg:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Op::shl:
    case Op::shr: {
      const auto n = static_cast<uint32_t>(b);
      const uint32_t by = w.wrap != 0 ? n & 31 : std::min(n, 32U);
      return static_cast<Op>(w.op) == Op::shl ? static_cast<int64_t>(static_cast<uint64_t>(a) << by)
                                              : a >> by;
    }
    case Op::set:
      return holds(static_cast<Relation>(w.relation), a, b) ? 1 : 0;
    case Op::mad:
      break;
  }
  return 0;
}

uint32_t merged(uint32_t value, uint32_t c, uint64_t select) {
  if (select == 0) return value;
  const int width = select <= 4 ? 8 : 16;
  const int shift = static_cast<int>(select <= 4 ? (select - 1) * 8 : (select - 5) * 16);
  const uint32_t mask = ((1U << width) - 1) << shift;
  // Measured: .h1 is the result's upper half, not its lower one.
  return (c & ~mask) | ((select == 6 ? value : value << shift) & mask);
}

uint32_t multiplied(const Words& w, int64_t a, int64_t b, uint32_t c) {
  const bool is_signed = w.a_signed != 0 || w.b_signed != 0;
  __int128 v = static_cast<__int128>(a) * b;
  v += static_cast<int32_t>(c);  // measured: signed, whatever the types
  v += w.plus_one;
  if (w.shift != 0) v = is_signed ? v >> w.shift : static_cast<__int128>(static_cast<uint64_t>(v) >> w.shift);
  if (w.saturate != 0) {
    const __int128 most = is_signed ? INT32_MAX : static_cast<__int128>(UINT32_MAX);
    const __int128 least = is_signed ? INT32_MIN : 0;
    v = std::clamp(v, least, most);
  }
  return static_cast<uint32_t>(v);
}

uint32_t scalar(const Words& w, uint32_t a32, uint32_t b32, uint32_t c) {
  const int64_t a = part(a32, w.a_select, w.a_signed != 0), b = part(b32, w.b_select, w.b_signed != 0);
  if (static_cast<Op>(w.op) == Op::mad) return multiplied(w, a, b, c);
  const int64_t v = computed(w, a, b);
  const auto value = static_cast<uint32_t>(v);
  switch (static_cast<Second>(w.second)) {
    case Second::none:
      return value;
    case Second::add:
      return value + c;
    case Second::merge:
      return merged(value, c, w.d_select);
  }
  return value;
}

// Part i of a pair of values: selectors have three bits a part, of the first value's parts and then of the
// second's.
int64_t chosen(uint32_t a, uint32_t b, uint64_t select, int i, int parts, bool is_signed) {
  const int width = 32 / parts;
  const auto from = static_cast<int>(select >> (3 * i) & 7);
  const uint64_t both = uint64_t{b} << 32 | a;
  const uint64_t bits = (both >> (from * width)) & ((uint64_t{1} << width) - 1);
  const int up = 64 - width;
  return is_signed ? static_cast<int64_t>(bits << up) >> up : static_cast<int64_t>(bits);
}

uint32_t simd(const Words& w, uint32_t a, uint32_t b, uint32_t c) {
  const auto parts = static_cast<int>(w.parts);
  const int width = 32 / parts;
  const bool adds = static_cast<Second>(w.second) == Second::add;
  uint32_t d = c;
  for (int i = 0; i < parts; ++i) {
    if ((w.d_select >> i & 1) == 0) continue;
    int64_t v = computed(w, chosen(a, b, w.a_select, i, parts, w.a_signed != 0),
                         chosen(a, b, w.b_select, i, parts, w.b_signed != 0));
    if (w.saturate != 0) v = clamp_to(v, width, w.d_signed != 0);
    const uint32_t mask = ((1U << width) - 1) << (i * width);
    if (adds)
      d += static_cast<uint32_t>(v);
    else
      d = (d & ~mask) | ((static_cast<uint32_t>(v) << (i * width)) & mask);
  }
  return d;
}

void video_lanes(const LaneArgs& args) {
  uint32_t t[lanes::warp_size];
  Words w;
  std::memcpy(&w, args.s[0], sizeof w);
  for (int i = 0; i < lanes::warp_size; ++i) {
    const uint32_t a = lanes::source<uint32_t>(args, 1)[i], b = lanes::source<uint32_t>(args, 2)[i];
    const uint32_t c = w.has_c != 0 ? lanes::source<uint32_t>(args, 3)[i] : 0;
    t[i] = w.parts == 1 ? scalar(w, a, b, c) : simd(w, a, b, c);
  }
  lanes::commit(args.d[0], t, args.mask);
}

// --- decode ---------------------------------------------------------------------------------------------
constexpr std::pair<std::string_view, Op> op_names[] = {
    {"vadd", Op::add},   {"vsub", Op::sub}, {"vabsdiff", Op::absdiff}, {"vmin", Op::min}, {"vmax", Op::max},
    {"vavrg", Op::avrg}, {"vshl", Op::shl}, {"vshr", Op::shr},         {"vmad", Op::mad}, {"vset", Op::set}};
constexpr std::pair<std::string_view, Relation> relation_names[] = {
    {"eq", Relation::eq}, {"ne", Relation::ne}, {"lt", Relation::lt},
    {"le", Relation::le}, {"gt", Relation::gt}, {"ge", Relation::ge}};

bool is_signed_word(const Instruction& i, std::string_view slot) {
  return i.form->slot(slot) >= 0 && i.type(slot) == Type::s32;
}
bool says(const Instruction& i, std::string_view slot) { return i.form->slot(slot) >= 0 && i.has(slot); }

uint64_t scalar_select(const Operand& o) {
  const auto s = selector::read(o);
  if (!s) return 0;
  return s->bytes ? s->digits[0] + 1ULL : s->digits[0] + 5ULL;
}

// Digits as they stand in the text, the most significant part first.
uint64_t simd_select(const Operand& o, uint64_t absent) {
  const auto s = selector::read(o);
  if (!s) return absent;
  uint64_t bits = 0;
  for (int k = 0; k < s->count; ++k) bits = bits << 3 | static_cast<uint64_t>(s->digits[k]);
  return bits;
}

uint64_t simd_mask(const Operand& o, int parts) {
  const auto s = selector::read(o);
  if (!s) return (1U << parts) - 1;
  uint64_t bits = 0;
  for (int k = 0; k < s->count; ++k) bits |= 1ULL << s->digits[k];
  return bits;
}

// Selectors of scalar instructions have one digit within the value; those of SIMD ones a digit a part.
bool selectors_fit(const Instruction& i, int parts) {
  for (const std::string_view name : {"d", "a", "b"}) {
    const auto s = selector::read(*i.operand(name));
    if (!s) continue;
    const bool d = name == "d";
    const int width = parts == 1 ? (s->bytes ? 4 : 2) : parts;
    if (parts != 1 && s->bytes != (parts == 4)) return false;
    if (parts == 1 ? s->count != 1 : d ? s->count > parts : s->count != parts) return false;
    for (int k = 0; k < s->count; ++k)
      if (s->digits[k] >= (parts == 1 || d ? width : 2 * parts)) return false;
  }
  return true;
}

Effect video_effect(const Instruction& i, const DecodeContext&) {
  std::string_view name = i.form->op;
  const int parts = name.ends_with('2') ? 2 : name.ends_with('4') ? 4 : 1;
  if (parts != 1) name.remove_suffix(1);
  if (!selectors_fit(i, parts))
    return decode::unsupported(i, "these selectors are none of the instruction's");
  Words w{};
  w.op = static_cast<uint64_t>(decode::word_of(name, op_names));
  w.parts = static_cast<uint64_t>(parts);
  w.d_signed = is_signed_word(i, "dtype");
  w.a_signed = is_signed_word(i, "atype");
  w.b_signed = is_signed_word(i, "btype");
  w.saturate = says(i, "sat");
  w.wrap = says(i, "mode") && i.mod("mode") == "wrap";
  w.plus_one = says(i, "po");
  w.shift = says(i, "scale") ? (i.mod("scale") == "shr7" ? 7 : 15) : 0;
  if (says(i, "cmp")) w.relation = static_cast<uint64_t>(decode::word_of(i.mod("cmp"), relation_names));
  w.has_c = i.operand("c") != nullptr;
  const Operand &d = *i.operand("d"), &a = *i.operand("a"), &b = *i.operand("b");
  using S = Second;
  const std::string_view second = says(i, "op2") ? i.mod("op2") : "";
  S then = second == "add" ? S::add : S::none;
  if (parts == 1) {
    // Measured on an H200: what ptxas makes of these differs from the manual, by types and selectors.
    const bool saturates = w.saturate != 0 && static_cast<Op>(w.op) != Op::mad;
    if (saturates || second == "min" || second == "max")
      return decode::unsupported(i, "scalar video instructions with .sat, .min or .max are not modelled");
    w.a_select = scalar_select(a);
    w.b_select = scalar_select(b);
    w.d_select = scalar_select(d);
    if (w.d_select != 0 && then == S::none && w.has_c != 0) then = S::merge;
    const bool takes_c = then != S::none || static_cast<Op>(w.op) == Op::mad;
    if (takes_c != (w.has_c != 0) || (then != S::merge && w.d_select != 0))
      return decode::unsupported(i, "a third source goes with a second operation or a selector of d");
  } else {
    w.a_select = simd_select(a, parts == 2 ? 010 : 03210);
    w.b_select = simd_select(b, parts == 2 ? 032 : 07654);
    w.d_select = simd_mask(d, parts);
  }
  w.second = static_cast<uint64_t>(then);
  uint64_t constant = 0;
  std::memcpy(&constant, &w, sizeof constant);
  return Pure{.fn = video_lanes, .constant = constant};
}

constexpr Timing video_timing{Unit::alu, "alu"};

constexpr decode::Definition words[] = {
    {"$types", ".dtype:u32|s32.atype:u32|s32.btype:u32|s32"},
    {"$scalar",
     "<s: =d:dtype, a:atype, b:btype, c?:dtype;.op2:add|min|max =d:dtype, a:atype, b:btype, c:dtype>"},
    {"$relation", "<s: =d:u32, a:atype, b:btype, c?:u32;.op2:add|min|max =d:u32, a:atype, b:btype, c:u32>"},
    {"$simd", "=d:dtype, a:atype, b:btype, c:dtype"},
    {"$cmp", ".cmp:eq|ne|lt|le|gt|ge"},
};

OpDef scalar_def(std::string_view name, std::string_view doc, std::string_view form) {
  return OpDef{name, doc, decode::expand({form}, words), video_timing, video_effect};
}

}  // namespace

std::vector<OpDef> video() {
  std::vector<OpDef> all = {
      scalar_def("vadd", "d = a + b of selected parts. Scalar Video Instructions: vadd.",
                 "[2.0 sm_20] vadd$types{.sat}$scalar"),
      scalar_def("vsub", "d = a - b of selected parts. Scalar Video Instructions: vsub.",
                 "[2.0 sm_20] vsub$types{.sat}$scalar"),
      scalar_def("vabsdiff", "d = |a - b| of selected parts. Scalar Video Instructions: vabsdiff.",
                 "[2.0 sm_20] vabsdiff$types{.sat}$scalar"),
      scalar_def("vmin", "d = the smaller of selected parts. Scalar Video Instructions: vmin.",
                 "[2.0 sm_20] vmin$types{.sat}$scalar"),
      scalar_def("vmax", "d = the larger of selected parts. Scalar Video Instructions: vmax.",
                 "[2.0 sm_20] vmax$types{.sat}$scalar"),
      scalar_def("vshl", "d = a shifted left by b. Scalar Video Instructions: vshl.",
                 "[2.0 sm_20] vshl.dtype:u32|s32.atype:u32|s32.btype:u32{.sat}.mode:clamp|wrap"
                 "$scalar"),
      scalar_def("vshr", "d = a shifted right by b. Scalar Video Instructions: vshr.",
                 "[2.0 sm_20] vshr.dtype:u32|s32.atype:u32|s32.btype:u32{.sat}.mode:clamp|wrap"
                 "$scalar"),
      scalar_def("vmad", "d = a * b + c, shifted right. Scalar Video Instructions: vmad.",
                 "[2.0 sm_20] vmad$types{.po}{.sat}{.scale:shr7|shr15} $simd"),
      scalar_def("vset", "d = whether a relation of selected parts holds. Scalar Video Instructions: vset.",
                 "[2.0 sm_20] vset.atype:u32|s32.btype:u32|s32$cmp$relation"),
  };
  for (const std::string_view count : {"2", "4"}) {
    for (const std::string_view op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}) {
      const std::string_view name = decode::keep(std::string(op) + std::string(count));
      const decode::Definition named[] = {{"$name", name}, words[0], words[3]};
      all.push_back(
          OpDef{name,
                decode::keep("The operation on halves or bytes, and the sum of the results. SIMD Video "
                             "Instructions: " +
                             std::string(name) + "."),
                decode::expand(
                    {"[3.0 sm_30] $name$types{.sat} $simd", "[3.0 sm_30] $name$types.op2:add $simd"}, named),
                video_timing, video_effect});
    }
    const std::string_view name = decode::keep("vset" + std::string(count));
    const decode::Definition named[] = {{"$name", name}, words[4]};
    all.push_back(OpDef{
        name,
        decode::keep("A relation of halves or bytes. SIMD Video Instructions: " + std::string(name) + "."),
        decode::expand({"[3.0 sm_30] $name.atype:u32|s32.btype:u32|s32$cmp{.op2:add} "
                        "=d:u32, a:atype, b:btype, c:u32"},
                       named),
        video_timing, video_effect});
  }
  return all;
}

}  // namespace palladion::isa::ops
