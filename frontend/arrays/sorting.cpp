// Bitonic sorting: of pairs of places whose numbers differ in one bit, each lane keeps what its place gets.
#include <fmt/format.h>

#include "frontend/arrays/broadcast.h"
#include "frontend/arrays/lanes.h"
#include "frontend/arrays/lines.h"
#include "frontend/arrays/ordering.h"
#include "frontend/core/verbs.h"

namespace palladion::plgpu {

using frontend::Line;
using frontend::LineBits;
using frontend::Lines;

namespace {

// 32 bits in the order of the elements: unsigned, -0 as 0, NaN behind all numbers.
Operand key_of(Recorder& r, DType d, const Operand& e) {
  if (d == DType::bool_) return frontend::to_word(r, d, e);
  if (pl::is_integer(d)) {
    const DType wide = pl::is_signed(d) ? DType::s32 : DType::u32;
    const Operand word = frontend::element_convert(r, d, wide, e);
    if (!pl::is_signed(d)) return word;
    return r.pure("xor.b32", {word, Operand::imm(int64_t{1} << 31)}, Type::b32);
  }
  const Operand x = frontend::element_convert(r, d, DType::f32, e);
  const Operand zero = frontend::constant(DType::f32, 0.0);
  const Operand no_sign_of_zero = r.pure("add.rn.f32", {x, zero}, Type::f32);
  const Operand bits = r.pure("mov.b32", {no_sign_of_zero}, Type::b32);
  const Operand sign = r.pure("shr.s32", {bits, Operand::imm(31)}, Type::b32);
  const Operand flips = r.pure("or.b32", {sign, Operand::imm(int64_t{1} << 31)}, Type::b32);
  const Operand key = r.pure("xor.b32", {bits, flips}, Type::b32);
  const Operand is_nan = r.pure("setp.nan.f32", {x, x}, Type::pred);
  return r.pure("selp.b32", {Operand::imm(-1), key, is_nan}, Type::b32);
}

// The element's own bits in a b32 register, and back.
Operand word_of(Recorder& r, DType d, const Operand& e) {
  return d == DType::f32 ? r.pure("mov.b32", {e}, Type::b32) : frontend::to_word(r, d, e);
}
Operand element_of(Recorder& r, DType d, const Operand& word) { return frontend::from_word(r, d, word); }

// An element on its way: what decides, its number in the low half; and its own bits.
struct Item {
  Operand rank;  // b64
  Operand word;
};

class Bitonic {
 public:
  Bitonic(Recorder& r, const LineBits& bits) : r_(r), bits_(bits) {
    for (int b = 0, of_registers = 0; b < bits.bits(); ++b)
      register_bit_.push_back(bits.of_thread(b) ? 0 : size_t{1} << of_registers++);
  }

  // Of the line's registers, in the order of their places.
  void run(std::vector<Item>& items) {
    for (int stage = 1; stage <= bits_.bits(); ++stage) {
      for (int b = stage - 1; b >= 0; --b) {
        if (bits_.of_thread(b))
          across_threads(items, b, stage);
        else
          across_registers(items, b, stage);
      }
    }
  }

 private:
  Operand less(const Item& a, const Item& b) { return r_.pure("setp.lt.u64", {a.rank, b.rank}, Type::pred); }
  Item select(const Operand& p, const Item& a, const Item& b) {
    return {r_.pure("selp.b64", {a.rank, b.rank, p}, Type::b64),
            r_.pure("selp.b32", {a.word, b.word, p}, Type::b32)};
  }
  // Whether the block of this stage sorts downwards: known, or a bit of the lane's number. The last stage
  // sorts upwards.
  bool known_down(size_t i, int stage) const {
    return stage < bits_.bits() && (i & register_bit_[static_cast<size_t>(stage)]) != 0;
  }
  bool down_by_thread(int stage) const { return stage < bits_.bits() && bits_.of_thread(stage); }

  void across_registers(std::vector<Item>& items, int b, int stage) {
    const size_t bit = register_bit_[static_cast<size_t>(b)];
    for (size_t low = 0; low < items.size(); ++low) {
      if ((low & bit) != 0) continue;
      const Item x = items[low], y = items[low | bit];
      Operand swap = known_down(low, stage) ? less(x, y) : less(y, x);
      if (down_by_thread(stage)) {
        // Downwards where they are in order: ranks differ.
        const Operand down = frontend::thread_bit(r_, bits_, stage);
        swap = r_.pure("xor.pred", {swap, down}, Type::pred);
      }
      items[low] = select(swap, y, x);
      items[low | bit] = select(swap, x, y);
    }
  }

  void across_threads(std::vector<Item>& items, int b, int stage) {
    const int64_t mask = bits_.thread_mask[static_cast<size_t>(b)];
    std::vector<Operand> ranks, words;
    for (const Item& i : items) ranks.push_back(i.rank), words.push_back(i.word);
    ranks = frontend::from_partner(r_, DType::u64, ranks, mask);
    words = frontend::from_partner(r_, DType::u32, words, mask);
    // The upper place keeps the larger one, the lower one where the block sorts downwards.
    Operand keeps_larger = frontend::thread_bit(r_, bits_, b);
    if (down_by_thread(stage))
      keeps_larger = r_.pure("xor.pred", {keeps_larger, frontend::thread_bit(r_, bits_, stage)}, Type::pred);
    for (size_t i = 0; i < items.size(); ++i) {
      const Item other{ranks[i], words[i]};
      const bool down = known_down(i, stage);
      // Mine is smaller, and I keep the larger one; or the reverse.
      const Operand mine_less = down ? less(other, items[i]) : less(items[i], other);
      const Operand differ = r_.pure("xor.pred", {mine_less, keeps_larger}, Type::pred);
      items[i] = select(differ, items[i], other);
    }
  }

  Recorder& r_;
  const LineBits& bits_;
  std::vector<size_t> register_bit_;  // of each bit of a place; 0: a thread's
};

struct Sorted {
  Array values, numbers;  // s32
};

Array sortable(const Array& x, std::string_view verb, std::source_location loc) {
  x.check_assigned(loc);
  if (pl::bits(x.dtype()) > 32)
    fail(Code::unsupported_dtype,
         fmt::format("{} of an {}: elements have at most 32 bits", verb, to_string(x)),
         "convert it first: .astype(pl::f32), .astype(pl::s32)");
  if (x.rank() == 0)
    fail(Code::bad_axis, fmt::format("{} of an {}: it has no dimension", verb, to_string(x)));
  if (!x.layout().is_splat()) return x;
  return layout_cast(x, default_layout(x.shape(), x.dtype(), loc), loc);
}

Sorted sorted(const Array& x, int axis, bool descending, std::string_view verb) {
  Recorder& r = Recorder::current();
  const Lines lines = frontend::lines_of(x, axis, verb);
  const DType d = x.dtype();
  const std::vector<Operand> elements = x.elements();
  std::vector<Operand> words, keys;
  for (const Operand& e : elements) {
    const Operand key = key_of(r, d, e);
    keys.push_back(descending ? r.pure("not.b32", {key}, Type::b32) : key);
    words.push_back(word_of(r, d, e));
  }
  std::vector<Operand> out(elements.size()), numbers(elements.size());
  const Operand all_ones = r.pure("mov.b32", {Operand::imm(-1)}, Type::b32);
  for (const Line& line : lines.lines) {
    std::vector<Item> items;
    for (size_t i = 0; i < line.places.size(); ++i) {
      const int64_t e = line.elements[i];
      const Scalar place = frontend::place_of(r, lines.bits, line.places[i]);
      Operand key = e < 0 ? all_ones : keys[static_cast<size_t>(e)];
      Operand number = e < 0 ? all_ones : place.as_register();
      if (e >= 0 && lines.padded) {
        const Operand inside = (place < lines.bits.size).operand();
        key = r.pure("selp.b32", {key, all_ones, inside}, Type::b32);
        number = r.pure("selp.b32", {number, all_ones, inside}, Type::b32);
      }
      items.push_back({r.pure("mov.b64", {Operand::vector({number, key})}, Type::b64),
                       e < 0 ? all_ones : words[static_cast<size_t>(e)]});
    }
    Bitonic(r, lines.bits).run(items);
    for (size_t i = 0; i < line.places.size(); ++i) {
      if (line.elements[i] < 0) continue;
      const auto e = static_cast<size_t>(line.elements[i]);
      out[e] = element_of(r, d, items[i].word);
      numbers[e] = r.pure_pair("mov.b64", items[i].rank, Type::b32).first;
    }
  }
  // Numbers lie as the elements do, in registers of their own.
  return {frontend::with_copies(r, Array::from_elements(d, x.shape(), x.layout(), out)),
          frontend::with_copies(r, Array::from_elements(DType::s32, x.shape(), x.layout(), numbers))};
}

}  // namespace

Array sort(const Array& x, int axis, const SortOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  return sorted(sortable(x, "sort", loc), axis, options.descending, "sort").values;
}

Array argsort(const Array& x, int axis, const SortOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  return sorted(sortable(x, "argsort", loc), axis, options.descending, "argsort").numbers;
}

namespace {

// The first `k` elements in the default layout.
Array first_of(Recorder& r, const Array& x, int64_t k, std::source_location loc) {
  const Shape shape{k};
  const Layout layout = default_layout(shape, x.dtype(), loc);
  frontend::InScratch scratch(r, x, "top_k", k);
  std::vector<Operand> out;
  for (const Scalar& number : frontend::index_scalars(r, shape, layout, 0))
    out.push_back(scratch.load(number));
  return Array::from_elements(x.dtype(), shape, layout, out);
}

}  // namespace

std::pair<Array, Array> top_k(const Array& x, int64_t k, std::source_location loc) {
  const VerbScope at(loc);
  if (x.rank() != 1 || k < 1 || k > x.shape(0))
    fail(Code::bad_shape,
         fmt::format("top_k of an {} with k = {}: one dimension, and 1 <= k <= its size", to_string(x), k),
         "a row of a matrix: load it as x.at(i); without a limit: plgpu::sort");
  const Sorted all = sorted(sortable(x, "top_k", loc), 0, true, "top_k");
  Recorder& r = Recorder::current();
  return {first_of(r, all.values, k, loc), first_of(r, all.numbers, k, loc)};
}

Array take(const Array& x, const Array& indices, int axis, std::source_location loc) {
  const VerbScope at(loc);
  x.check_assigned(loc);
  indices.check_assigned(loc);
  const int a = axis < 0 ? axis + static_cast<int>(x.rank()) : axis;
  if (a < 0 || static_cast<size_t>(a) >= x.rank())
    fail(Code::bad_axis, fmt::format("take of an {}: there is no dimension {}", to_string(x), axis),
         "dimensions count from 0; -1 is the last");
  if (indices.rank() != 1 || (indices.dtype() != DType::s32 && indices.dtype() != DType::u32))
    fail(Code::bad_index,
         fmt::format("take of an {} at an {}: the indices have one dimension and are s32 or u32",
                     to_string(x), to_string(indices)),
         "convert them with .astype(pl::s32); elements of memory are gathered with plgpu::load(ref, "
         "{indices})");
  Recorder& r = Recorder::current();
  const auto dim = static_cast<size_t>(a);
  Shape shape = x.shape();
  shape[dim] = indices.shape(0);
  if (x.layout().is_splat()) return Array(x.dtype(), shape, Layout::WG_SPLAT(shape), x.registers());
  const bool of_indices = x.rank() == 1 && !indices.layout().is_splat();
  const Layout layout = of_indices           ? indices.layout()
                        : shape == x.shape() ? x.layout()
                                             : default_layout(shape, x.dtype(), loc);
  const Array last = minimum(maximum(indices, 0), x.shape(dim) - 1);
  const Array where = broadcast_to_layout(last, Broadcast{shape, {a}}, layout);
  const std::vector<Operand> picked = where.elements();
  frontend::InScratch scratch(r, x, fmt::format("take of an {}", to_string(x)));
  std::vector<Scalar> number(picked.size(), Scalar(0));
  for (size_t d = 0; d < x.rank(); ++d) {
    const auto index = frontend::index_scalars(r, shape, layout, d);
    for (size_t e = 0; e < number.size(); ++e)
      number[e] =
          number[e] * x.shape(d) + (d == dim ? Scalar::from_register(DType::s32, picked[e], true) : index[e]);
  }
  std::vector<Operand> out;
  for (const Scalar& n : number) out.push_back(scratch.load(n));
  return Array::from_elements(x.dtype(), shape, layout, out);
}

}  // namespace palladion::plgpu
