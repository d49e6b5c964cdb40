#include "isa/formats/tcgen05_descriptor.h"

#include <fmt/format.h>

#include <array>

namespace palladion::isa {
namespace {

uint32_t field(uint32_t value, int low) { return value << low; }
int bits_of(uint32_t word, int low, int count) { return static_cast<int>(word >> low & ((1U << count) - 1)); }

// The number of a type among those of a kind; Type::none: no such number.
struct Code {
  Tcgen05Kind kind;
  Type type;
  uint32_t code;
};
constexpr Code codes[] = {
    {Tcgen05Kind::f16, Type::f16, 0},     {Tcgen05Kind::f16, Type::bf16, 1},
    {Tcgen05Kind::tf32, Type::tf32, 2},   {Tcgen05Kind::f8f6f4, Type::e4m3, 0},
    {Tcgen05Kind::f8f6f4, Type::e5m2, 1}, {Tcgen05Kind::f8f6f4, Type::e2m3, 3},
    {Tcgen05Kind::f8f6f4, Type::e3m2, 4}, {Tcgen05Kind::f8f6f4, Type::e2m1, 5},
    {Tcgen05Kind::i8, Type::u8, 0},       {Tcgen05Kind::i8, Type::s8, 1},
    {Tcgen05Kind::mxf4, Type::e2m1, 1},
};
// Kinds that share their numbers.
constexpr Tcgen05Kind family_of(Tcgen05Kind kind) {
  using enum Tcgen05Kind;
  return kind == mxf8f6f4 ? f8f6f4 : kind == mxf4nvf4 ? mxf4 : kind;
}

uint32_t code_of(Tcgen05Kind kind, Type type) {
  for (const Code& c : codes)
    if (c.kind == family_of(kind) && c.type == type) return c.code;
  return 7;
}
Type type_of(Tcgen05Kind kind, int code) {
  for (const Code& c : codes)
    if (c.kind == family_of(kind) && c.code == static_cast<uint32_t>(code)) return c.type;
  return Type::none;
}

constexpr std::array<Type, 4> results = {Type::f16, Type::f32, Type::s32, Type::none};

}  // namespace

uint32_t encode(const Tcgen05Descriptor& d, Tcgen05Kind kind) {
  uint32_t word = field(static_cast<uint32_t>(d.sparsity_selector), 0) | field(d.sparse, 2) |
                  field(code_of(kind, d.a), 7) | field(code_of(kind, d.b), 10) | field(d.negate_a, 13) |
                  field(d.negate_b, 14) | field(d.transpose_a, 15) | field(d.transpose_b, 16) |
                  field(static_cast<uint32_t>(d.n) >> 3, 17) | field(static_cast<uint32_t>(d.m) >> 4, 24);
  if (is_block_scaled(kind))
    return word | field(static_cast<uint32_t>(d.scale_b_id), 4) | field(!d.scale_ue4m3, 23) |
           field(static_cast<uint32_t>(d.scale_a_id), 29) | field(d.k96, 31);
  const uint32_t result = d.d == Type::f16 ? 0 : d.d == Type::f32 ? 1 : 2;
  const uint32_t shift = d.max_shift == 0 ? 0 : d.max_shift == 8 ? 1 : d.max_shift == 16 ? 2 : 3;
  return word | field(d.saturate, 3) | field(result, 4) | field(shift, 30);
}

Tcgen05Descriptor decode_tcgen05_descriptor(uint32_t word, Tcgen05Kind kind) {
  Tcgen05Descriptor d;
  d.sparsity_selector = bits_of(word, 0, 2);
  d.sparse = bits_of(word, 2, 1) != 0;
  d.a = type_of(kind, bits_of(word, 7, 3));
  d.b = type_of(kind, bits_of(word, 10, is_mxf4(kind) ? 2 : 3));
  d.negate_a = bits_of(word, 13, 1) != 0;
  d.negate_b = bits_of(word, 14, 1) != 0;
  d.transpose_a = bits_of(word, 15, 1) != 0;
  d.transpose_b = bits_of(word, 16, 1) != 0;
  d.n = bits_of(word, 17, 6) << 3;
  d.m = bits_of(word, 24, 5) << 4;
  if (is_block_scaled(kind)) {
    d.d = Type::f32;
    d.scale_b_id = bits_of(word, 4, 2);
    d.scale_ue4m3 = bits_of(word, 23, 1) == 0;
    d.scale_a_id = bits_of(word, 29, 2);
    d.k96 = bits_of(word, 31, 1) != 0;
    return d;
  }
  d.saturate = bits_of(word, 3, 1) != 0;
  d.d = results[static_cast<size_t>(bits_of(word, 4, 2))];
  const int shift = bits_of(word, 30, 2);
  d.max_shift = shift == 0 ? 0 : 4 << shift;
  return d;
}

int tcgen05_k(Tcgen05Kind kind, bool sparse, bool k96) {
  using enum Tcgen05Kind;
  const int dense = kind == f16 ? 16 : kind == tf32 ? 8 : is_mxf4(kind) ? (k96 ? 96 : 64) : 32;
  return sparse ? 2 * dense : dense;
}

int tcgen05_element_bits(Tcgen05Kind kind) {
  using enum Tcgen05Kind;
  return kind == f16 ? 16 : kind == tf32 ? 32 : is_mxf4(kind) ? 4 : 8;
}

std::string_view name(Tcgen05Kind kind) {
  constexpr std::string_view names[] = {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  return names[static_cast<size_t>(kind)];
}

namespace {

using Problems = std::vector<std::string>;

void types(const Tcgen05Descriptor& d, const Tcgen05Mma& i, Problems& out) {
  if (d.a == Type::none || d.b == Type::none)
    out.push_back(fmt::format(".kind::{} has no type with the number of {}", name(i.kind),
                              d.a == Type::none ? "A (bits 7 to 9)" : "B (bits 10 to 12)"));
  const bool integers = i.kind == Tcgen05Kind::i8;
  const bool halves =
      (i.kind == Tcgen05Kind::f16 && d.a == Type::f16 && d.b == Type::f16) || i.kind == Tcgen05Kind::f8f6f4;
  const bool right = integers ? d.d == Type::s32 : d.d == Type::f32 || (d.d == Type::f16 && halves);
  if (!right)
    out.push_back(fmt::format("D is {} with .kind::{} (bits 4 and 5)",
                              integers ? "s32"
                              : halves ? "f32 or f16"
                                       : "f32",
                              name(i.kind)));
  if (i.kind == Tcgen05Kind::f16 && d.a != d.b) out.push_back("A and B are both f16 or both bf16");
  if (integers && (d.negate_a || d.negate_b)) out.push_back("integers are not negated (bits 13 and 14)");
  if (!integers && d.saturate) out.push_back("only integers saturate (bit 3)");
  if (is_mxf4(i.kind) && (d.transpose_a || d.transpose_b))
    out.push_back(
        fmt::format(".kind::{} is not transposed (bits 15 and 16): K runs along the rows", name(i.kind)));
  if (d.sparse != i.sparse) out.push_back("bit 2 (sparse) differs from the instruction's .sp");
  if (d.sparsity_selector != 0 && i.kind != Tcgen05Kind::f16 && i.kind != Tcgen05Kind::tf32)
    out.push_back(fmt::format("the sparsity selector (bits 0 and 1) is 0 with .kind::{}", name(i.kind)));
}

void shape(const Tcgen05Descriptor& d, const Tcgen05Mma& i, Problems& out) {
  const auto m_is = [&](std::initializer_list<int> permitted, std::string_view text) {
    for (const int m : permitted)
      if (d.m == m) return;
    out.push_back(fmt::format("M is {} with {}, not {}", text,
                              i.weight_stationary
                                  ? std::string(".ws")
                                  : fmt::format(".cta_group::{} and .kind::{}", i.ctas, name(i.kind)),
                              d.m));
  };
  if (i.weight_stationary) {
    m_is({32, 64, 128}, "32, 64 or 128");
    const bool sparse_n = i.sparse && d.n == 256;
    if ((d.n != 64 && d.n != 128 && d.n != 256) || sparse_n)
      out.push_back(fmt::format("N is 64{} with .ws, not {}", i.sparse ? " or 128" : ", 128 or 256", d.n));
    return;
  }
  if (is_block_scaled(i.kind)) {
    if (i.ctas == 1)
      m_is({128}, "128");
    else if (i.sparse || d.k96)
      m_is({256}, "256");
    else
      m_is({128, 256}, "128 or 256");
  } else if (i.ctas == 1) {
    m_is({64, 128}, "64 or 128");
  } else {
    m_is({128, 256}, "128 or 256");
  }
  int step = i.ctas == 2 ? 16 : 8;
  if (i.kind == Tcgen05Kind::i8 && (i.ctas == 2 || d.n > 32)) step *= 2;
  if (d.n < step || d.n > 256 || d.n % step != 0)
    out.push_back(fmt::format("N is a multiple of {} up to 256 with .cta_group::{} and .kind::{}, not {}",
                              step, i.ctas, name(i.kind), d.n));
}

void scales(const Tcgen05Descriptor& d, const Tcgen05Mma& i, Problems& out) {
  if (!is_block_scaled(i.kind)) return;
  if (d.scale_ue4m3 && !(i.kind == Tcgen05Kind::mxf4nvf4 && i.scale_vectors == 4))
    out.push_back("scales are UE8M0 (bit 23) but for .kind::mxf4nvf4 with .scale_vec::4X");
  const int step = i.scale_vectors;
  for (const int id : {d.scale_a_id, d.scale_b_id})
    if (id % step != 0)
      out.push_back(fmt::format("the first scale is byte {} of a column with .scale_vec::{}X, not {}",
                                step == 4 ? "0" : "0 or 2", step, id));
  if (d.k96) out.push_back("K = 96 (bit 31) is not modelled");
}

}  // namespace

std::vector<std::string> tcgen05_problems(const Tcgen05Descriptor& d, const Tcgen05Mma& instruction) {
  Problems out;
  types(d, instruction, out);
  shape(d, instruction, out);
  scales(d, instruction, out);
  return out;
}

}  // namespace palladion::isa
