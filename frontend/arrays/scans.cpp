// Running sums: blocks of 1, 2, 4, ... places, each with its total.
#include <fmt/format.h>

#include <limits>
#include <map>

#include "frontend/arrays/lines.h"
#include "frontend/arrays/ordering.h"
#include "frontend/core/verbs.h"

namespace palladion::plgpu {

using frontend::Binary;
using frontend::Line;
using frontend::LineBits;

namespace {

class Scan {
 public:
  Scan(Recorder& r, Binary op, DType dtype, const LineBits& bits, bool reverse)
      : r_(r), op_(op), dtype_(dtype), bits_(bits), reverse_(reverse) {}

  // `values`: of the line's registers, in the order of their places.
  std::vector<Operand> run(const std::vector<Operand>& values) {
    sums_ = totals_ = values;
    for (int b = 0, of_registers = 0; b < bits_.bits(); ++b) {
      if (bits_.of_thread(b))
        across_threads(b);
      else
        across_registers(size_t{1} << of_registers++);
    }
    return sums_;
  }

 private:
  // The same operands are combined once.
  Operand combined(const Operand& a, const Operand& b) {
    const auto key = std::pair{a.id, b.id};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    return known_[key] = frontend::element_binary(r_, op_, dtype_, a, b);
  }

  void across_registers(size_t bit) {
    for (size_t low = 0; low < sums_.size(); ++low) {
      if ((low & bit) != 0) continue;
      const size_t high = low | bit;
      if (reverse_)
        sums_[low] = combined(sums_[low], totals_[high]);
      else
        sums_[high] = combined(totals_[low], sums_[high]);
      totals_[low] = totals_[high] = combined(totals_[low], totals_[high]);
    }
  }

  void across_threads(int bit) {
    std::map<uint32_t, size_t> number;  // of distinct totals
    std::vector<Operand> distinct;
    for (const Operand& t : totals_)
      if (number.emplace(t.id, distinct.size()).second) distinct.push_back(t);
    const int64_t mask = bits_.thread_mask[static_cast<size_t>(bit)];
    const std::vector<Operand> others = frontend::from_partner(r_, dtype_, distinct, mask);
    const Operand upper = frontend::thread_bit(r_, bits_, bit);
    for (size_t i = 0; i < sums_.size(); ++i) {
      const Operand& other = others[number.at(totals_[i].id)];
      const Operand with = combined(other, sums_[i]);
      sums_[i] = reverse_ ? frontend::element_select(r_, dtype_, upper, sums_[i], with)
                          : frontend::element_select(r_, dtype_, upper, with, sums_[i]);
      totals_[i] = combined(totals_[i], other);
    }
  }

  Recorder& r_;
  Binary op_;
  DType dtype_;
  const LineBits& bits_;
  bool reverse_;
  std::vector<Operand> sums_, totals_;  // of each register
  std::map<std::pair<uint32_t, uint32_t>, Operand> known_;
};

// What changes nothing.
Operand neutral_of(Binary op, DType d) {
  const auto number = [&](double real, int64_t whole) {
    const Scalar s = pl::is_float(d) ? Scalar::constant(d, real) : Scalar::constant(d, whole);
    return s.as_register();
  };
  if (op == Binary::add) return number(0, 0);
  if (op == Binary::mul) return number(1, 1);
  const int bits = pl::bits(d);
  const bool is_signed = pl::is_signed(d);
  const int64_t most =
      is_signed ? (bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1)
                : (bits == 64 ? -1 : (int64_t{1} << bits) - 1);
  const int64_t least = is_signed ? -most - 1 : 0;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return op == Binary::max ? number(-infinity, least) : number(infinity, most);
}

Array scan(Binary op, const Array& x, int axis, const ScanOptions& options, std::string_view verb,
           std::source_location loc) {
  const VerbScope at(loc);
  x.check_assigned(loc);
  Recorder& r = Recorder::current();
  const DType d = x.dtype();
  if (d == DType::bool_ || frontend::is_fp8(d))
    fail(Code::unsupported_dtype, fmt::format("{} of an {}", verb, to_string(x)),
         "convert it first: .astype(pl::s32), .astype(pl::f32)");
  if (x.layout().is_splat() && x.rank() > 0)
    return scan(op, layout_cast(x, default_layout(x.shape(), d, loc), loc), axis, options, verb, loc);
  const frontend::Lines lines = frontend::lines_of(x, axis, verb);
  std::vector<Operand> elements = x.elements();
  const Operand neutral = lines.complete() ? Operand{} : neutral_of(op, d);
  for (const Line& line : lines.lines) {
    std::vector<Operand> values;
    for (size_t i = 0; i < line.places.size(); ++i)
      values.push_back(frontend::element_at(r, x, lines, line, i, elements, neutral));
    const std::vector<Operand> sums = Scan(r, op, d, lines.bits, options.reverse).run(values);
    for (size_t i = 0; i < line.places.size(); ++i)
      if (line.elements[i] >= 0) elements[static_cast<size_t>(line.elements[i])] = sums[i];
  }
  return frontend::with_copies(r, Array::from_elements(d, x.shape(), x.layout(), elements));
}

}  // namespace

#define PLD_SCAN(name, op)                                                                     \
  Array name(const Array& x, int axis, const ScanOptions& options, std::source_location loc) { \
    return scan(Binary::op, x, axis, options, #name, loc);                                     \
  }
PLD_SCAN(cumsum, add)
PLD_SCAN(cumprod, mul)
PLD_SCAN(cummax, max)
PLD_SCAN(cummin, min)
#undef PLD_SCAN

}  // namespace palladion::plgpu
