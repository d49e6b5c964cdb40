#include "sim/program/compile/layout.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace palladion::sim {
namespace {

constexpr uint32_t lane_count = 32;

uint32_t lane_bytes(int width) { return width == 1 ? 4 : static_cast<uint32_t>(width) / 8 * lane_count; }

// Read anew each time.
bool is_dynamic(const InitialValue& v) {
  return v.kind == InitialValue::Kind::special && is_clock(v.special);
}

}  // namespace

bool is_clock(isa::Special s) {
  using enum isa::Special;
  return s == clock || s == clock_hi || s == clock64 || s == globaltimer || s == globaltimer_lo ||
         s == globaltimer_hi;
}

Layout::Layout(Program& program, const CallGraph& graph, const std::vector<uint64_t>& global_addresses)
    : p_(program), module_(*program.module), graph_(graph) {
  p_.reserved_shared = static_cast<uint32_t>(p_.arch->reserved_shared_bytes_per_cta);
  p_.function_start.assign(module_.functions.size(), Pc(isa::no_id));
  p_.register_offsets_base.assign(module_.functions.size(), 0);
  p_.parameter_registers.assign(module_.symbols.size(), isa::no_id);
  p_.frames.resize(module_.functions.size());
  for (const uint32_t f : graph_.functions) p_.frames[f].exists = graph_.framed[f] != 0;
  p_.sink_offset = reserve(512);
  p_.carry_offset = reserve(4);
  place_symbols(global_addresses);
  Pc start{0};
  for (const uint32_t f : graph_.functions) {
    p_.function_start[f] = start;
    start += module_.functions[f].body.size() + 1;
    place_registers(f);
  }
  p_.code.reserve(start);
}

uint32_t Layout::reserve(uint32_t size) {
  const auto at = static_cast<uint32_t>(align_up(p_.register_bytes, std::min(size, 64U)));
  p_.register_bytes = at + size;
  return at;
}

// A module has variables of other kernels too. As ptxas does: those of the functions that the entry reaches
// have a place, and those of the module that they name.
bool Layout::is_used(isa::SymbolId id) const {
  const uint32_t owner = module_.symbols[id].scope;
  return owner == isa::no_id ? graph_.named[id] != 0 : graph_.reached[module_.symbols[owner].function] != 0;
}

// The frame of the function whose variable it is; null: laid out once.
Frame* Layout::frame_of(const isa::Symbol& s) const {
  if (s.kind != isa::Symbol::Kind::variable || s.scope == isa::no_id) return nullptr;
  if (s.variable.space != isa::Space::local && s.variable.space != isa::Space::param) return nullptr;
  Frame& frame = p_.frames[module_.symbols[s.scope].function];
  return frame.exists ? &frame : nullptr;
}

void Layout::place_symbols(const std::vector<uint64_t>& global_addresses) {
  p_.symbol_address.assign(module_.symbols.size(), 0);
  const isa::Function& entry = *p_.entry;
  const isa::ParamLayout params = isa::param_layout(module_, entry);
  for (size_t i = 0; i < entry.params.size(); ++i) p_.symbol_address[entry.params[i]] = params.offsets[i];
  const std::set<isa::SymbolId> entry_params(entry.params.begin(), entry.params.end());
  uint64_t local = 0;
  for (isa::SymbolId id = 0; id < module_.symbols.size(); ++id) {
    const isa::Symbol& s = module_.symbols[id];
    if (s.kind != isa::Symbol::Kind::variable || entry_params.contains(id) || is_shared(s.variable.space))
      continue;
    if (s.variable.space == isa::Space::local || s.variable.space == isa::Space::param) {
      if (is_used(id)) place_private(s, id, local);
    } else {
      p_.symbol_address[id] = id < global_addresses.size() ? global_addresses[id] : 0;
    }
  }
  p_.static_shared = static_cast<uint32_t>(place_shared());
  p_.local_bytes = static_cast<uint32_t>(align_up(local, 16));
}

// Variables of shared memory; the end of those that have a size. Those without one (extern) begin there.
uint64_t Layout::place_shared() {
  constexpr uint64_t nowhere = uint64_t{1} << 62;
  uint64_t end = p_.reserved_shared;
  std::vector<isa::SymbolId> unsized;
  for (isa::SymbolId id = 0; id < module_.symbols.size(); ++id) {
    const isa::Symbol& s = module_.symbols[id];
    if (s.kind != isa::Symbol::Kind::variable || !is_shared(s.variable.space)) continue;
    if (!is_used(id)) {
      p_.symbol_address[id] = nowhere;
    } else if (s.variable.size() == 0) {
      unsized.push_back(id);
    } else {
      p_.symbol_address[id] = align_up(end, s.variable.alignment());
      end = p_.symbol_address[id] + s.variable.size();
    }
  }
  for (const isa::SymbolId id : unsized)
    end = align_up(end, std::max<uint64_t>(module_.symbols[id].variable.alignment(), 16));
  for (const isa::SymbolId id : unsized) p_.symbol_address[id] = end;
  return end;
}

// Local variables and parameter blocks: once for a thread, or in its function's frame.
void Layout::place_private(const isa::Symbol& s, isa::SymbolId id, uint64_t& local) {
  const isa::Variable& v = s.variable;
  Frame* frame = frame_of(s);
  uint64_t end = frame != nullptr ? frame->bytes : local;
  end = align_up(end, std::max<uint64_t>(v.alignment(), 1));
  // The window distinguishes parameter blocks of calls from the kernel's own parameters.
  p_.symbol_address[id] = v.space == isa::Space::param ? local_window + end : end;
  end += v.size();
  if (frame == nullptr) {
    local = end;
    return;
  }
  frame->bytes = static_cast<uint32_t>(end);
  if (v.space == isa::Space::local)
    frame->charge =
        static_cast<uint32_t>(align_up(frame->charge, std::max<uint64_t>(v.alignment(), 1)) + v.size());
}

void Layout::place_registers(uint32_t function) {
  const isa::Function& f = module_.functions[function];
  const auto base = static_cast<uint32_t>(p_.register_offsets.size());
  p_.register_offsets_base[function] = base;
  for (const isa::Register& r : f.registers)
    p_.register_offsets.push_back(reserve(lane_bytes(isa::bits(r.type))));
  for (const auto* list : {&f.params, &f.returns}) {
    for (const isa::SymbolId id : *list) {
      if (module_.symbols[id].variable.space != isa::Space::reg) continue;
      const auto r = std::ranges::find(f.registers, module_.symbols[id].name, &isa::Register::name);
      if (r == f.registers.end()) continue;
      p_.parameter_registers[id] = p_.register_offsets[base + static_cast<size_t>(r - f.registers.begin())];
    }
  }
}

Slot Layout::constant(uint64_t value, int width) {
  if (width < 64) value &= (uint64_t{1} << width) - 1;
  const auto it = constants_.find({value, width});
  if (it != constants_.end()) return it->second;
  auto& bytes = p_.constants;
  const Slot slot{static_cast<uint32_t>(align_up(bytes.size(), 64)), true};
  bytes.resize(slot.offset + std::max<uint32_t>(lane_bytes(width), 8));
  if (width == 1) {
    const uint32_t all = value != 0 ? ~0U : 0;
    std::memcpy(bytes.data() + slot.offset, &all, 4);
  } else {
    const size_t element = static_cast<size_t>(width) / 8;
    for (uint32_t i = 0; i < lane_count; ++i)
      std::memcpy(bytes.data() + slot.offset + element * i, &value, std::min<size_t>(element, 8));
  }
  constants_.emplace(std::pair{value, width}, slot);
  return slot;
}

Slot Layout::initial(InitialValue v) {
  auto& list = is_dynamic(v) ? p_.dynamic_values : p_.initial_values;
  for (const InitialValue& known : list) {
    if (known.kind == v.kind && known.special == v.special && known.component == v.component &&
        known.value == v.value && known.width == v.width)
      return {known.offset, false};
  }
  v.offset = reserve(lane_bytes(v.width));
  list.push_back(v);
  return {v.offset, false};
}

Slot Layout::address(const isa::Symbol& variable, uint64_t value, int width) {
  const auto lane_width = static_cast<uint8_t>(width);
  if (Frame* frame = frame_of(variable)) {
    const auto known = std::ranges::find_if(
        frame->places, [&](const Frame::Place& p) { return p.value == value && p.width == width; });
    if (known != frame->places.end()) return {known->offset, false};
    const Slot slot{reserve(lane_bytes(width)), false};
    frame->places.push_back({slot.offset, lane_width, value});
    return slot;
  }
  using Kind = InitialValue::Kind;
  // The address of a kernel's parameter of opaque type is the handle that it holds.
  if (isa::is_opaque(variable.variable.type) && variable.variable.space == isa::Space::param)
    return initial({.kind = Kind::parameter, .value = value, .width = lane_width});
  // Of a CTA's shared memory: its rank is part of it.
  if (is_shared(variable.variable.space))
    return initial({.kind = Kind::shared_address, .value = value, .width = lane_width});
  return constant(value, width);
}

void Layout::finish() {
  for (const uint32_t f : graph_.functions) finish_frame(f);
  p_.register_bytes = static_cast<uint32_t>(align_up(p_.register_bytes, 64));
}

// Registers, and those with addresses in the frame, are saved by the next activation.
void Layout::finish_frame(uint32_t function) {
  Frame& frame = p_.frames[function];
  if (!frame.exists) return;
  const isa::Function& f = module_.functions[function];
  const uint32_t base = p_.register_offsets_base[function];
  for (size_t r = 0; r < f.registers.size(); ++r)
    frame.registers.push_back(
        {p_.register_offsets[base + r], static_cast<uint8_t>(isa::bits(f.registers[r].type))});
  for (const Frame::Place& p : frame.places) frame.registers.push_back({p.offset, p.width});
  uint32_t saved = 0;
  for (const Frame::Saved& r : frame.registers) saved += r.width == 1 ? 1 : r.width / 8U;
  frame.variables = static_cast<uint32_t>(align_up(Frame::links + saved, 64));
  for (Frame::Place& p : frame.places) p.value += frame.variables;
  frame.bytes += frame.variables;
}

}  // namespace palladion::sim
