// From one layout to another: registers change places within a lane, or lanes of a warp exchange them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "frontend/arrays/array.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

namespace {

struct Source {
  int64_t lane, element;
};
// [e][t]: where thread t finds its element e.
using Plan = std::vector<std::vector<Source>>;

// Each thread's elements in its own warp; none when an element lives in another warp only.
std::optional<Plan> plan_within_warps(const Layout& from, const Layout& to, const Shape& shape) {
  const int64_t n_from = from.elements(shape), n_to = to.elements(shape);
  Plan plan(static_cast<size_t>(n_to), std::vector<Source>(warpgroup_size));
  for (int64_t warp = 0; warp < warpgroup_size; warp += warp_size) {
    std::map<Shape, std::vector<Source>> holders;
    for (int64_t t = warp; t < warp + warp_size; ++t)
      for (int64_t e = 0; e < n_from; ++e) holders[from.index(shape, t, e)].push_back({t, e});
    for (int64_t t = warp; t < warp + warp_size; ++t) {
      for (int64_t e = 0; e < n_to; ++e) {
        const auto it = holders.find(to.index(shape, t, e));
        if (it == holders.end()) return std::nullopt;
        // Of several copies the lane's own, else the one whose lane differs in the fewest bits.
        const auto best = std::ranges::min_element(it->second, {}, [&](const Source& s) {
          return __builtin_popcountll(static_cast<uint64_t>(s.lane ^ t));
        });
        plan[static_cast<size_t>(e)][static_cast<size_t>(t)] = *best;
      }
    }
  }
  return plan;
}

// Registers that hold `pack` elements each move as wholes when the plan keeps their elements together.
std::optional<Plan> in_registers(const Plan& plan, int pack) {
  Plan out;
  for (size_t e = 0; e < plan.size(); e += static_cast<size_t>(pack)) {
    std::vector<Source> row(warpgroup_size);
    for (size_t t = 0; t < warpgroup_size; ++t) {
      const Source first = plan[e][t];
      if (first.element % pack != 0) return std::nullopt;
      for (int k = 1; k < pack; ++k) {
        const Source& next = plan[e + static_cast<size_t>(k)][t];
        if (next.lane != first.lane || next.element != first.element + k) return std::nullopt;
      }
      row[t] = {first.lane, first.element / pack};
    }
    out.push_back(std::move(row));
  }
  return out;
}

// A function of the lane's five bits that is a XOR of images of single bits, as layouts make them.
std::optional<Scalar> linear_in_lane(const Scalar& lane, const std::map<int64_t, int64_t>& wanted) {
  // Bits that are the same in all lanes of interest have no image of their own.
  const int64_t first = wanted.begin()->first, base = wanted.begin()->second;
  std::array<int64_t, 5> image{};
  for (int b = 0; b < 5; ++b) {
    const auto flipped = wanted.find(first ^ (1 << b));
    if (flipped != wanted.end()) image[static_cast<size_t>(b)] = flipped->second ^ base;
  }
  for (const auto& [t, value] : wanted) {
    int64_t sum = base;
    for (int b = 0; b < 5; ++b)
      if (((t ^ first) >> b & 1) != 0) sum ^= image[static_cast<size_t>(b)];
    if (sum != value) return std::nullopt;
  }
  int64_t constant = base;
  Scalar sum(0);
  for (int b = 0; b < 5; ++b) {
    if (image[static_cast<size_t>(b)] == 0) continue;
    if ((first >> b & 1) != 0) constant ^= image[static_cast<size_t>(b)];
    sum = sum ^ (((lane >> b) & 1) * image[static_cast<size_t>(b)]);
  }
  return sum ^ constant;
}

// Holds in exactly these lanes, when they are what agrees in some bits.
std::optional<Scalar> membership(const Scalar& lane, const std::set<int64_t>& lanes) {
  int64_t same = warp_size - 1;
  const int64_t first = *lanes.begin();
  for (int64_t t : lanes) same &= ~(t ^ first);
  int64_t matching = 0;
  for (int64_t t = 0; t < warp_size; ++t) matching += (t & same) == (first & same);
  if (matching != static_cast<int64_t>(lanes.size())) return std::nullopt;
  return (lane & same) == (first & same);
}

class Exchange {
 public:
  Exchange(Recorder& r, const std::vector<Operand>& from, Type type, DType element, bool packed)
      : r_(r),
        from_(from),
        type_(type),
        element_(element),
        packed_(packed),
        lane_(frontend::lane_scalar(r) & (warp_size - 1)) {}

  // The register that `row` describes; none when the exchange has no simple form.
  std::optional<Operand> gather(const std::vector<Source>& row) {
    std::map<int64_t, std::map<int64_t, int64_t>> by_register;  // register -> lane -> lane to read
    bool own = true;
    for (int64_t t = 0; t < warpgroup_size; ++t) {
      const Source& s = row[static_cast<size_t>(t)];
      own &= s.lane == t && s.element == row[0].element;
      const auto [it, fresh] = by_register[s.element].emplace(t % warp_size, s.lane % warp_size);
      if (!fresh && it->second != s.lane % warp_size) return std::nullopt;  // warps differ
    }
    if (own) return from_[static_cast<size_t>(row[0].element)];
    std::optional<Operand> result;
    for (const auto& [reg, lanes] : by_register) {
      const auto value = exchanged(reg, lanes);
      if (!value) return std::nullopt;
      if (!result) {
        result = *value;
        continue;
      }
      std::set<int64_t> members;
      for (const auto& [t, source] : lanes) members.insert(t);
      const auto holds = membership(lane_, members);
      if (!holds) return std::nullopt;
      result = select(holds->operand(), *value, *result);
    }
    return result;
  }

 private:
  std::optional<Operand> exchanged(int64_t reg, const std::map<int64_t, int64_t>& lanes) {
    const Operand& v = from_[static_cast<size_t>(reg)];
    if (std::ranges::all_of(lanes, [](const auto& p) { return p.first == p.second; })) return v;
    const auto source = linear_in_lane(lane_, lanes);
    if (!source) return std::nullopt;
    if (isa::bits(type_) == 64) {
      const auto [low, high] = r_.pure_pair("mov.b64", v, Type::b32);
      return r_.pure("mov.b64", {Operand::vector({shuffle(low, *source), shuffle(high, *source)})}, type_);
    }
    if (isa::bits(type_) == 32) {
      const Operand moved = shuffle(v, *source);
      return type_ == Type::f32 ? r_.pure("mov.b32", {moved}, Type::f32) : moved;
    }
    return r_.pure("cvt.u16.u32", {shuffle(r_.pure("cvt.u32.u16", {v}, Type::b32), *source)}, Type::b16);
  }
  Operand shuffle(const Operand& word, const Scalar& source) {
    const Operand d = r_.reg(Type::b32);
    r_.emit("shfl.sync.idx.b32", {d, word, source.operand(), Operand::imm(31), Operand::imm(-1)});
    return d;
  }
  Operand select(const Operand& p, const Operand& a, const Operand& b) {
    if (!packed_) return frontend::element_select(r_, element_, p, a, b);
    return r_.pure(fmt::format("selp.b{}", isa::bits(type_)), {a, b, p}, type_);
  }

  Recorder& r_;
  const std::vector<Operand>& from_;
  Type type_;
  DType element_;
  bool packed_;
  Scalar lane_;
};

std::optional<std::vector<Operand>> exchange_all(Recorder& r, const std::vector<Operand>& from,
                                                 const Plan& plan, Type type, DType d, bool packed) {
  Exchange exchange(r, from, type, d, packed);
  std::vector<Operand> out;
  for (const auto& row : plan) {
    const auto reg = exchange.gather(row);
    if (!reg) return std::nullopt;
    out.push_back(*reg);
  }
  return out;
}

}  // namespace

Array layout_cast(const Array& x, const Layout& layout, std::source_location loc) {
  const VerbScope at(loc);
  const std::string misfit = layout.misfit(x.shape());
  if (!misfit.empty())
    fail(Code::layout_shape, misfit,
         "choose a layout for the array's shape, e.g. Layout::WG_STRIDED, or slice whole tiles");
  if (x.layout() == layout) return x;
  Recorder& r = Recorder::current();
  if (x.layout().is_splat()) {
    const std::vector<Operand> elements(static_cast<size_t>(layout.elements(x.shape())),
                                        x.registers().front());
    return layout.is_splat() ? x : Array::from_elements(x.dtype(), x.shape(), layout, elements);
  }
  const auto plan = layout.is_splat() || x.dtype() == DType::bool_
                        ? std::nullopt
                        : plan_within_warps(x.layout(), layout, x.shape());
  if (plan) {
    const int pack = Array::pack_of(x.dtype(), layout);
    const auto whole = pack == x.pack() ? in_registers(*plan, pack) : std::nullopt;
    const auto registers = whole ? exchange_all(r, x.registers(), *whole, Array::packed_type(x.dtype(), pack),
                                                x.dtype(), pack > 1)
                                 : std::nullopt;
    if (registers) return Array(x.dtype(), x.shape(), layout, *registers);
    const auto elements =
        exchange_all(r, x.elements(), *plan, frontend::register_type(x.dtype()), x.dtype(), false);
    if (elements) return Array::from_elements(x.dtype(), x.shape(), layout, *elements);
  }
  fail(
      Code::layout_mismatch,
      fmt::format("layout_cast of an {} to {}: elements would change warps", to_string(x), to_string(layout)),
      "store it to SMEM and load it back with the other layout");
}

}  // namespace palladion::plgpu
