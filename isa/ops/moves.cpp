// mov and its packs (PTX, "Data Movement and Conversion Instructions: mov").
#include "isa/core/op.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::ops {
namespace {

// Moves vanish when registers are allocated; reading a clock does not.
Timing free_move(const Instruction& i) {
  using S = Special;
  for (const Operand& o : i.operands)
    if (o.is(Operand::Kind::special) &&
        (o.special == S::clock || o.special == S::clock_hi || o.special == S::clock64 ||
         o.special == S::globaltimer || o.special == S::globaltimer_lo || o.special == S::globaltimer_hi))
      return {Unit::alu, "clock"};
  return {Unit::none, "mov"};
}

template <class T>
void copy(const LaneArgs& a) {
  T t[lanes::warp_size];
  std::memcpy(t, a.s[0], sizeof t);
  lanes::commit(a.d[0], t, a.mask);
}

struct Wide {
  uint64_t lo, hi;
};

void copy_predicate(const LaneArgs& a) { lanes::commit_mask(a.d[0], lanes::mask_source(a, 0), a.mask); }

// {s0, s1, ...} -> d, least significant first. W: the whole, P: a part.
template <class W, class P>
void pack(const LaneArgs& a) {
  constexpr int parts = sizeof(W) / sizeof(P);
  alignas(W) uint8_t t[sizeof(W) * lanes::warp_size];
  for (int p = 0; p < parts; ++p)
    for (int i = 0; i < lanes::warp_size; ++i)
      std::memcpy(t + sizeof(W) * i + sizeof(P) * p, lanes::source<P>(a, p) + i, sizeof(P));
  lanes::commit(a.d[0], reinterpret_cast<const W*>(t), a.mask);
}

template <class W, class P>
void unpack(const LaneArgs& a) {
  constexpr int parts = sizeof(W) / sizeof(P);
  W whole[lanes::warp_size];
  std::memcpy(whole, a.s[0], sizeof whole);
  for (int p = 0; p < parts; ++p) {
    P t[lanes::warp_size];
    for (int i = 0; i < lanes::warp_size; ++i)
      std::memcpy(t + i, reinterpret_cast<const uint8_t*>(whole + i) + sizeof(P) * p, sizeof(P));
    lanes::commit(a.d[p], t, a.mask);
  }
}

struct PackRow {
  int whole, part;  // bits
  LanesFn pack, unpack;
};
constexpr PackRow pack_rows[] = {
    {16, 8, pack<uint16_t, uint8_t>, unpack<uint16_t, uint8_t>},
    {32, 8, pack<uint32_t, uint8_t>, unpack<uint32_t, uint8_t>},
    {32, 16, pack<uint32_t, uint16_t>, unpack<uint32_t, uint16_t>},
    {64, 16, pack<uint64_t, uint16_t>, unpack<uint64_t, uint16_t>},
    {64, 32, pack<uint64_t, uint32_t>, unpack<uint64_t, uint32_t>},
    {128, 32, pack<Wide, uint32_t>, unpack<Wide, uint32_t>},
    {128, 64, pack<Wide, uint64_t>, unpack<Wide, uint64_t>},
};

LanesFn pack_fn(int whole, size_t parts, bool packing) {
  for (const PackRow& r : pack_rows)
    if (r.whole == whole && r.part * static_cast<int>(parts) == whole) return packing ? r.pack : r.unpack;
  return nullptr;
}

LanesFn copy_fn(int width) {
  switch (width) {
    case 1:
      return copy_predicate;
    case 8:
      return copy<uint8_t>;
    case 16:
      return copy<uint16_t>;
    case 32:
      return copy<uint32_t>;
    case 64:
      return copy<uint64_t>;
    case 128:
      return copy<Wide>;
    default:
      return nullptr;
  }
}

Effect mov(const Instruction& i, const DecodeContext&) {
  const Operand &d = *i.operand("d"), &a = *i.operand("a");
  const int width = bits(i.type());
  LanesFn fn = nullptr;
  if (a.is(Operand::Kind::vector))
    fn = pack_fn(width, a.elements.size(), true);
  else if (d.is(Operand::Kind::vector))
    fn = pack_fn(width, d.elements.size(), false);
  else
    fn = copy_fn(width);
  if (fn == nullptr) return Unsupported{"mov between a vector and a scalar of another size"};
  return Pure{fn};
}

}  // namespace

std::vector<OpDef> moves() {
  return {
      OpDef{"mov",
            "d = a: a register, an immediate, a special register, an address of a variable, or a pack or "
            "unpack of a "
            "vector. Data Movement Instructions: mov.",
            {"mov.type:pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64 =d:pack, a:pack",
             "[8.3 sm_70] mov.type:b128 =d:pack, a:pack"},
            free_move,
            mov,
            Operation::move},
  };
}

}  // namespace palladion::isa::ops
