#include "frontend/control/carry.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace palladion::frontend {

void add_leaf(Carry& carry, const pl::Scalar& value) {
  CarryLeaf leaf;
  leaf.dtype = value.dtype();
  leaf.registers = {value.is_constant() ? value.operand() : value.as_register()};
  leaf.nonnegative = value.nonnegative();
  leaf.type = register_type(value.dtype());
  carry.push_back(std::move(leaf));
}

void add_leaf(Carry& carry, const plgpu::Array& value) {
  carry.push_back({true, value.dtype(), value.shape(), value.layout(), value.registers(), false,
                   plgpu::Array::packed_type(value.dtype(), value.pack())});
}

pl::Scalar scalar_of(const CarryLeaf& leaf) {
  return pl::Scalar::from_register(leaf.dtype, leaf.registers.front());
}

plgpu::Array array_of(const CarryLeaf& leaf) {
  return plgpu::Array(leaf.dtype, leaf.shape, leaf.layout, leaf.registers);
}

namespace {

void move(Recorder& r, Type type, const Operand& to, const Operand& from) {
  switch (type) {
    case Type::pred:
      r.emit("mov.pred", {to, from});
      return;
    case Type::f32:
      r.emit("mov.f32", {to, from});
      return;
    case Type::f64:
      r.emit("mov.f64", {to, from});
      return;
    default:
      r.emit(fmt::format("mov.b{}", isa::bits(type)), {to, from});
  }
}

std::string describe(const CarryLeaf& leaf) {
  if (!leaf.is_array) return fmt::format("a {} number", pl::name(leaf.dtype));
  return plgpu::to_string(array_of(leaf));
}

bool defines(const isa::Instruction& i, const Operand& reg) {
  if (i.operands.empty() || !reg.is(Operand::Kind::reg)) return false;
  const Operand& d = i.operands.front();
  return d == reg || std::ranges::find(d.elements, reg) != d.elements.end();
}

// The author's line that computed the value; the last verb's for a number of the host.
isa::SourceLoc made_at(Recorder& r, const CarryLeaf& leaf) {
  const std::vector<isa::Instruction>& body = r.function().body;
  const auto made = std::ranges::find_if(body.rbegin(), body.rend(), [&](const isa::Instruction& i) {
    return defines(i, leaf.registers.back());
  });
  if (made == body.rend() || made->origin.source == isa::no_id) return place(last_verb());
  return r.module().frames[made->origin.source].at;
}

// A splat becomes what the carry is; nothing where the two differ.
std::optional<CarryLeaf> fit(const CarryLeaf& to, const CarryLeaf& from) {
  if (to.is_array != from.is_array || to.dtype != from.dtype || to.shape != from.shape) return std::nullopt;
  if (to.layout == from.layout) return from;
  if (!to.is_array || !from.layout.is_splat()) return std::nullopt;
  std::vector<plgpu::Array> both{array_of(to), array_of(from)};
  plgpu::unify_layouts(both);
  Carry c;
  add_leaf(c, both[1]);
  return c.front();
}

[[noreturn]] void fail_carry(Recorder& r, const Carry& to, const Carry& from, size_t i,
                             std::string_view verb) {
  const std::string which = to.size() == 1 ? "the carry" : fmt::format("carry {} of {}", i + 1, to.size());
  fail(
      Code::bad_carry,
      fmt::format("{} ({}): {} starts as {} and continues as {}", verb,
                  short_place(r.regions.info(current_region).loc), which, describe(to[i]), describe(from[i])),
      made_at(r, from[i]),
      "dtype, shape and layout of a carry must stay the same; start it with plgpu::layout_cast or .astype");
}

}  // namespace

Carry copy_carry(Recorder& r, const Carry& from) {
  Carry to = from;
  for (CarryLeaf& leaf : to) {
    // A carry that starts as a splat would not take arrays of another layout; it keeps what it is.
    for (Operand& o : leaf.registers) {
      const Operand fresh = r.reg(leaf.type);
      move(r, leaf.type, fresh, o);
      o = fresh;
    }
    leaf.nonnegative = false;
  }
  return to;
}

void assign_carry(Recorder& r, const Carry& to, const Carry& from, std::string_view verb) {
  if (to.size() != from.size()) {
    fail(Code::bad_carry,
         fmt::format("{}: {} values are carried, the body gives {}", verb, to.size(), from.size()),
         "return as many values from the body as are carried, in their order");
  }
  std::unordered_set<uint32_t> targets;
  for (const CarryLeaf& leaf : to)
    for (const Operand& o : leaf.registers) targets.insert(o.id);
  struct Move {
    Type type;
    Operand to, from;
  };
  std::vector<Move> moves;
  for (size_t i = 0; i < to.size(); ++i) {
    const std::optional<CarryLeaf> source = fit(to[i], from[i]);
    if (!source) fail_carry(r, to, from, i, verb);
    for (size_t k = 0; k < to[i].registers.size(); ++k) {
      if (to[i].registers[k] == source->registers[k]) continue;
      moves.push_back({to[i].type, to[i].registers[k], source->registers[k]});
    }
  }
  // A source that is another carry's register is saved before any is overwritten.
  for (Move& m : moves) {
    if (!m.from.is(Operand::Kind::reg) || !targets.contains(m.from.id)) continue;
    const Operand saved = r.reg(m.type);
    move(r, m.type, saved, m.from);
    m.from = saved;
  }
  for (const Move& m : moves) move(r, m.type, m.to, m.from);
}

}  // namespace palladion::frontend
