#include "sim/explore/varying_bits.h"

#include <algorithm>
#include <bit>

#include "isa/core/op.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t all = ~uint64_t{0};

// The lowest `n` bits.
uint64_t low(int n) { return n >= 64 ? all : (uint64_t{1} << n) - 1; }

// A bit of a product of bits: it varies where one does, and the other can be one.
uint64_t conjunction(const Bits& a, const Bits& b) { return (a.vary & b.one) | (b.vary & a.one); }

uint64_t disjunction(const Bits& a, const Bits& b) { return (a.vary & b.zero) | (b.vary & a.zero); }

uint64_t shifted(const Bits& a, const Bits& by, int width, bool left, bool arithmetic) {
  if (a.vary == 0 && by.vary == 0) return 0;
  if (by.vary != 0 || !by.known()) return all;
  const uint64_t n = by.one & low(32), vary = a.vary & low(width);
  const bool fills = arithmetic && (vary >> (width - 1) & 1) != 0;
  if (n >= static_cast<uint64_t>(width)) return fills && !left ? low(width) : 0;
  if (left) return vary << n & low(width);
  return vary >> n | (fills ? low(width) & ~(low(width) >> n) : 0);
}

// Carries go upwards alone.
uint64_t at_and_above(int lowest) { return lowest >= 64 ? 0 : all << lowest; }

int lowest_of_product(const Bits& a, const Bits& b) {
  if (a.vary == 0 && b.vary == 0) return 64;
  // Zeros at the end of one operand are zeros at the end of the product.
  const auto lowest_one = [](const Bits& x) { return std::countr_zero(x.one | x.vary); };
  return std::min({64, std::countr_zero(a.vary) + lowest_one(b), std::countr_zero(b.vary) + lowest_one(a)});
}

bool is_integer(isa::Type t) {
  return isa::kind(t) == isa::TypeKind::signed_int || isa::kind(t) == isa::TypeKind::unsigned_int;
}

// The word of a slot that the form may lack.
std::string_view word(const isa::Instruction& i, std::string_view slot) {
  return i.form->slot(slot) < 0 ? std::string_view{} : i.mod(slot);
}

uint64_t converted(const isa::Instruction& i, const Bits& a) {
  if (word(i, "dtype").empty() || word(i, "type").empty() || !word(i, "sat").empty()) return all;
  const isa::Type from = i.type(), to = i.type("dtype");
  if (!is_integer(from) || !is_integer(to)) return all;
  uint64_t vary = a.vary & low(isa::bits(from));
  if (isa::is_signed(from) && (vary >> (isa::bits(from) - 1) & 1) != 0) vary |= ~low(isa::bits(from));
  return vary & low(isa::bits(to));
}

// On whole integers, of which the result has the low part.
bool is_modular(const isa::Instruction& i) {
  if (word(i, "type").empty() || isa::is_float(i.type()) || isa::bits(i.type()) > 64) return false;
  return (word(i, "half").empty() || word(i, "half") == "lo") && word(i, "sat").empty();
}

uint64_t of_numbers(const isa::Instruction& i, std::span<const Bits> o) {
  switch (isa::operation(i)) {
    case isa::Operation::not_:
      return o[1].vary;
    case isa::Operation::and_:
      return conjunction(o[1], o[2]);
    case isa::Operation::or_:
      return disjunction(o[1], o[2]);
    case isa::Operation::xor_:
      return o[1].vary | o[2].vary;
    case isa::Operation::shift_left:
      return shifted(o[1], o[2], isa::bits(i.type()), true, false);
    case isa::Operation::shift_right:
      return shifted(o[1], o[2], isa::bits(i.type()), false, isa::is_signed(i.type()));
    case isa::Operation::add:
    case isa::Operation::subtract:
      return at_and_above(std::countr_zero(o[1].vary | o[2].vary));
    case isa::Operation::multiply:
      return at_and_above(lowest_of_product(o[1], o[2]));
    case isa::Operation::multiply_add:
      return at_and_above(std::min(lowest_of_product(o[1], o[2]), std::countr_zero(o[3].vary)));
    case isa::Operation::convert:
      return converted(i, o[1]);
    default:
      return all;
  }
}

}  // namespace

uint64_t varying_bits(const isa::Instruction& i, std::span<const Bits> operands) {
  const bool converts = isa::operation(i) == isa::Operation::convert;
  return converts || is_modular(i) ? of_numbers(i, operands) : all;
}

}  // namespace palladion::sim::check
