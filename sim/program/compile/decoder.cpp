// isa::Function -> Program: registers get offsets, operands slots, effects handlers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/frames.h"
#include "sim/machine/exec/handlers.h"
#include "sim/program/approx.h"
#include "sim/program/compile/call_graph.h"
#include "sim/program/compile/injected_waits.h"
#include "sim/program/compile/wgmma_copies.h"
#include "sim/program/contraction/contract.h"

namespace palladion::sim {
namespace {

using isa::Operand;

constexpr uint32_t lane_count = 32;

uint32_t lane_bytes(int width) { return width == 1 ? 4 : static_cast<uint32_t>(width) / 8 * lane_count; }

bool is_dynamic(isa::Special s) {
  using S = isa::Special;
  return s == S::clock || s == S::clock_hi || s == S::clock64 || s == S::globaltimer ||
         s == S::globaltimer_lo || s == S::globaltimer_hi;
}

class Decoder {
 public:
  Decoder(const isa::Module& module, const isa::Function& entry, const isa::ArchSpec& arch,
          const std::vector<uint64_t>& globals)
      : module_(module),
        entry_(entry),
        arch_(arch),
        globals_(globals),
        program_(std::make_unique<Program>()) {}

  tl::expected<std::unique_ptr<Program>, isa::Diagnostics> run();

 private:
  bool is_used(isa::SymbolId id) const;
  Frame* frame_of(const isa::Symbol& s) const;
  void lay_out_private(const isa::Symbol& s, isa::SymbolId id, uint64_t& local);
  void finish_frame(uint32_t function);
  void lay_out_symbols();
  void lay_out_registers(uint32_t function);
  void decode_function(uint32_t function);
  MicroOp decode_instruction(const isa::Function& f, const isa::Instruction& i);
  DecodedOperand decode_operand(const isa::Function& f, const isa::Instruction& i, const Operand& o,
                                int width);
  DecodedOperand decode_address(const isa::Function& f, const isa::Instruction& i, const Operand& o);
  DecodedOperand symbol_operand(const Operand& o, int width);
  void decode_pure(MicroOp& op, const isa::Pure& pure, const isa::Instruction& i);
  int operand_width(const isa::Instruction& i, size_t index) const;
  int any_width(const isa::Instruction& i) const;
  Slot constant(uint64_t value, int width);
  Slot initial(InitialValue v, std::vector<InitialValue>& list);
  uint32_t reserve(uint32_t size);
  uint32_t register_offset(const isa::Function& f, isa::RegId id) const;

  const isa::Module& module_;
  const isa::Function& entry_;
  const isa::ArchSpec& arch_;
  const std::vector<uint64_t>& globals_;
  std::unique_ptr<Program> program_;
  CallGraph graph_;
  std::map<std::pair<uint64_t, int>, Slot> constants_;
  uint32_t current_function_ = 0;
};

uint32_t Decoder::reserve(uint32_t size) {
  const uint32_t at =
      (program_->register_bytes + std::min(size, 64U) - 1) / std::min(size, 64U) * std::min(size, 64U);
  program_->register_bytes = at + size;
  return at;
}

// A module has variables of other kernels too. As ptxas does: those of the functions that the entry reaches
// have a place, and those of the module that they name.
bool Decoder::is_used(isa::SymbolId id) const {
  const uint32_t owner = module_.symbols[id].scope;
  return owner == isa::no_id ? graph_.named[id] != 0 : graph_.reached[module_.symbols[owner].function] != 0;
}

// The frame of the function whose variable it is; null: laid out once.
Frame* Decoder::frame_of(const isa::Symbol& s) const {
  if (s.kind != isa::Symbol::Kind::variable || s.scope == isa::no_id) return nullptr;
  if (s.variable.space != isa::Space::local && s.variable.space != isa::Space::param) return nullptr;
  Frame& frame = program_->frames[module_.symbols[s.scope].function];
  return frame.exists ? &frame : nullptr;
}

// Local variables and parameter blocks: once for a thread, or in its function's frame.
void Decoder::lay_out_private(const isa::Symbol& s, isa::SymbolId id, uint64_t& local) {
  const isa::Variable& v = s.variable;
  Frame* frame = frame_of(s);
  uint64_t end = frame != nullptr ? frame->bytes : local;
  end = align_up(end, std::max<uint64_t>(v.alignment(), 1));
  // The window distinguishes parameter blocks of calls from the kernel's own parameters.
  program_->symbol_address[id] = v.space == isa::Space::param ? local_window + end : end;
  end += v.size();
  if (frame != nullptr)
    frame->bytes = static_cast<uint32_t>(end);
  else
    local = end;
}

// Registers, and those with addresses in the frame, are saved by the next activation.
void Decoder::finish_frame(uint32_t function) {
  Frame& frame = program_->frames[function];
  if (!frame.exists) return;
  const isa::Function& f = module_.functions[function];
  const uint32_t base = program_->register_offsets_base[function];
  for (size_t r = 0; r < f.registers.size(); ++r)
    frame.registers.push_back(
        {program_->register_offsets[base + r], static_cast<uint8_t>(isa::bits(f.registers[r].type))});
  for (const Frame::Place& p : frame.places) frame.registers.push_back({p.offset, p.width});
  uint32_t saved = 0;
  for (const Frame::Saved& r : frame.registers) saved += r.width == 1 ? 1 : r.width / 8U;
  frame.variables = static_cast<uint32_t>(align_up(Frame::links + saved, 64));
  for (Frame::Place& p : frame.places) p.value += frame.variables;
  frame.bytes += frame.variables;
}

void Decoder::lay_out_symbols() {
  Program& p = *program_;
  p.symbol_address.assign(module_.symbols.size(), 0);
  const isa::ParamLayout params = isa::param_layout(module_, entry_);
  for (size_t i = 0; i < entry_.params.size(); ++i) p.symbol_address[entry_.params[i]] = params.offsets[i];
  uint64_t shared = p.reserved_shared, local = 0;
  std::vector<isa::SymbolId> unsized;
  std::set<isa::SymbolId> entry_params(entry_.params.begin(), entry_.params.end());
  for (isa::SymbolId id = 0; id < module_.symbols.size(); ++id) {
    const isa::Symbol& s = module_.symbols[id];
    if (s.kind != isa::Symbol::Kind::variable || entry_params.contains(id)) continue;
    const isa::Variable& v = s.variable;
    constexpr uint64_t nowhere = uint64_t{1} << 62;
    if (is_shared(v.space)) {
      if (!is_used(id)) {
        p.symbol_address[id] = nowhere;
        continue;
      }
      if (v.size() == 0) {
        unsized.push_back(id);
        continue;
      }
      shared = align_up(shared, v.alignment());
      p.symbol_address[id] = shared;
      shared += v.size();
    } else if (v.space == isa::Space::local || v.space == isa::Space::param) {
      if (is_used(id)) lay_out_private(s, id, local);
    } else {
      p.symbol_address[id] = id < globals_.size() ? globals_[id] : 0;
    }
  }
  uint64_t dynamic = shared;
  for (const isa::SymbolId id : unsized)
    dynamic = align_up(dynamic, std::max<uint64_t>(module_.symbols[id].variable.alignment(), 16));
  for (const isa::SymbolId id : unsized) p.symbol_address[id] = dynamic;
  p.static_shared = static_cast<uint32_t>(dynamic);
  p.local_bytes = static_cast<uint32_t>(align_up(local, 16));
}

void Decoder::lay_out_registers(uint32_t function) {
  const isa::Function& f = module_.functions[function];
  program_->register_offsets_base[function] = static_cast<uint32_t>(program_->register_offsets.size());
  for (const isa::Register& r : f.registers)
    program_->register_offsets.push_back(reserve(lane_bytes(isa::bits(r.type))));
  for (const auto* list : {&f.params, &f.returns}) {
    for (const isa::SymbolId id : *list) {
      if (module_.symbols[id].variable.space != isa::Space::reg) continue;
      const auto r = std::ranges::find(f.registers, module_.symbols[id].name, &isa::Register::name);
      if (r == f.registers.end()) continue;
      program_->parameter_registers[id] =
          program_->register_offsets[program_->register_offsets_base[function] +
                                     static_cast<size_t>(r - f.registers.begin())];
    }
  }
}

uint32_t Decoder::register_offset(const isa::Function&, isa::RegId id) const {
  return program_->register_offsets[program_->register_offsets_base[current_function_] + id];
}

Slot Decoder::constant(uint64_t value, int width) {
  if (width < 64) value &= (uint64_t{1} << width) - 1;
  const auto it = constants_.find({value, width});
  if (it != constants_.end()) return it->second;
  auto& bytes = program_->constants;
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

Slot Decoder::initial(InitialValue v, std::vector<InitialValue>& list) {
  for (const InitialValue& known : list) {
    if (known.kind == v.kind && known.special == v.special && known.component == v.component &&
        known.value == v.value && known.width == v.width)
      return {known.offset, false};
  }
  v.offset = reserve(lane_bytes(v.width));
  list.push_back(v);
  return {v.offset, false};
}

int Decoder::any_width(const isa::Instruction& i) const {
  const int slot = i.form->slot("type");
  return slot >= 0 ? isa::bits(i.type()) : 32;
}

int Decoder::operand_width(const isa::Instruction& i, size_t index) const {
  const isa::OperandDef& def = i.form->operands[index];
  switch (def.kind) {
    case isa::OperandKind::predicate:
      return 1;
    case isa::OperandKind::value: {
      const isa::Type t = def.type_slot.empty() ? def.literal : i.type(def.type_slot);
      return std::max(8, isa::bits(t) * def.width_factor);
    }
    case isa::OperandKind::immediate:
      return 32;
    default:
      return any_width(i);
  }
}

DecodedOperand Decoder::symbol_operand(const Operand& o, int width) {
  DecodedOperand d;
  const isa::Symbol& s = module_.symbols[o.id];
  if (s.kind == isa::Symbol::Kind::function) {
    d.kind = DecodedOperand::Kind::function;
    d.id = s.function;
    d.slot = constant(function_addresses + s.function, width);
    return d;
  }
  d.kind = DecodedOperand::Kind::lanes;
  d.width = static_cast<uint8_t>(width);
  const uint64_t value = program_->symbol_address[o.id] + static_cast<uint64_t>(o.offset);
  d.offset = static_cast<int64_t>(value);
  if (Frame* frame = frame_of(s)) {
    const auto known = std::ranges::find_if(
        frame->places, [&](const Frame::Place& p) { return p.value == value && p.width == width; });
    d.slot = {known != frame->places.end() ? known->offset : reserve(lane_bytes(width)), false};
    if (known == frame->places.end())
      frame->places.push_back({d.slot.offset, static_cast<uint8_t>(width), value});
    return d;
  }
  using Kind = InitialValue::Kind;
  // The address of a kernel's parameter of opaque type is the handle that it holds.
  const bool is_handle = isa::is_opaque(s.variable.type) && s.variable.space == isa::Space::param;
  if (is_shared(s.variable.space) || is_handle) {
    d.slot = initial({.kind = is_handle ? Kind::parameter : Kind::shared_address,
                      .value = value,
                      .width = static_cast<uint8_t>(width)},
                     program_->initial_values);
  } else {
    d.slot = constant(value, width);
  }
  return d;
}

DecodedOperand Decoder::decode_address(const isa::Function& f, const isa::Instruction& i, const Operand& o) {
  DecodedOperand d;
  const Operand& base = o.elements.front();
  const bool is_reg = base.is(Operand::Kind::reg);
  d = decode_operand(f, i, base, is_reg ? isa::bits(f.registers[base.id].type) : 64);
  d.kind = DecodedOperand::Kind::address;
  d.offset = o.offset;
  // A named variable of shared memory needs the CTA's rank: it is an initial value of 64 bits; other
  // bases are plain lanes. Constants (parameters, globals) are lanes too.
  for (const Operand& c : o.coordinates()) d.elements.push_back(decode_operand(f, i, c, 32));
  if (o.sampled) d.elements.push_back(decode_operand(f, i, o.elements.back(), 64));
  return d;
}

DecodedOperand Decoder::decode_operand(const isa::Function& f, const isa::Instruction& i, const Operand& o,
                                       int width) {
  DecodedOperand d;
  d.negated = o.negated;
  switch (o.kind) {
    case Operand::Kind::none:
      return d;
    case Operand::Kind::reg:
      d.kind = DecodedOperand::Kind::lanes;
      d.width = static_cast<uint8_t>(isa::bits(f.registers[o.id].type));
      d.slot = {register_offset(f, o.id), false};
      return d;
    case Operand::Kind::imm: {
      d.kind = DecodedOperand::Kind::lanes;
      uint64_t bits = o.bits;
      if (o.imm_type == Operand::ImmType::f64 && width == 32)
        bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      if (o.imm_type == Operand::ImmType::f32 && width == 64)
        bits =
            std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
      d.width = static_cast<uint8_t>(width);
      d.offset = static_cast<int64_t>(bits);
      d.slot = constant(bits, width);
      return d;
    }
    case Operand::Kind::special: {
      d.kind = DecodedOperand::Kind::lanes;
      d.width = static_cast<uint8_t>(width);
      const InitialValue v{
          .special = o.special, .component = o.component, .width = static_cast<uint8_t>(width)};
      d.slot = initial(v, is_dynamic(o.special) ? program_->dynamic_values : program_->initial_values);
      return d;
    }
    case Operand::Kind::symbol:
      return symbol_operand(o, width);
    case Operand::Kind::label:
      if (isa::operation(i) !=
          isa::Operation::branch) {  // a list of targets, or the prototype of an indirect call
        d.kind = DecodedOperand::Kind::list;
        return d;
      }
      d.kind = DecodedOperand::Kind::target;
      d.id = f.labels[o.id].target + program_->function_start[current_function_];
      return d;
    case Operand::Kind::address:
      return decode_address(f, i, o);
    case Operand::Kind::vector:
      d.kind = DecodedOperand::Kind::vector;
      for (const Operand& e : o.elements) d.elements.push_back(decode_operand(f, i, e, width));
      return d;
    case Operand::Kind::sink:
      d.kind = DecodedOperand::Kind::lanes;
      d.width = static_cast<uint8_t>(width);
      d.slot = {program_->sink_offset, false};
      return d;
  }
  return d;
}

void flatten(const DecodedOperand& o, Slot* slots, uint8_t& count, uint8_t* negated) {
  if (o.kind == DecodedOperand::Kind::vector) {
    for (const DecodedOperand& e : o.elements) flatten(e, slots, count, negated);
    return;
  }
  PLD_CHECK(count < 8);
  if (negated != nullptr && o.negated) *negated |= static_cast<uint8_t>(1U << count);
  slots[count++] = o.slot;
}

void Decoder::decode_pure(MicroOp& op, const isa::Pure& pure, const isa::Instruction& i) {
  op.fn = pure.fn;
  if (pure.constant) op.s[op.sources++] = constant(*pure.constant, 64);
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const isa::OperandDef& def = i.form->operands[k];
    if (op.operands[k].kind == DecodedOperand::Kind::none) continue;
    if (def.writes)
      flatten(op.operands[k], op.d, op.destinations, nullptr);
    else
      flatten(op.operands[k], op.s, op.sources, &op.negated_sources);
  }
  if (pure.writes_carry) op.d[op.destinations++] = {program_->carry_offset, false};
  if (pure.reads_carry) op.s[op.sources++] = {program_->carry_offset, false};
  const bool simple =
      op.negated_sources == 0 && !op.dynamic_special && op.destinations == 1 && op.sources <= 4;
  op.handler = op.fn == nullptr ? exec_unsupported : simple ? exec_pure : exec_pure_general;
}

bool reads_clock(const Operand& o) {
  if (o.is(Operand::Kind::special)) return is_dynamic(o.special);
  return std::ranges::any_of(o.elements, reads_clock);
}

MicroOp Decoder::decode_instruction(const isa::Function& f, const isa::Instruction& i) {
  MicroOp op;
  op.instruction = &i;
  op.function = current_function_;
  if (i.guard.reg != isa::no_id) {
    op.guard = static_cast<int32_t>(register_offset(f, i.guard.reg));
    op.guard_negated = i.guard.negated;
  }
  auto& operands = program_->operands.emplace_back();
  for (size_t k = 0; k < i.operands.size(); ++k)
    operands.push_back(decode_operand(f, i, i.operands[k], operand_width(i, k)));
  op.operands = operands.data();
  op.dynamic_special = std::ranges::any_of(i.operands, reads_clock);
  const isa::DecodeContext context{module_, f, arch_};
  const isa::Effect& effect = program_->effects.emplace_back(isa::effect(i, context));
  op.effect = &effect;
  if (const auto* pure = std::get_if<isa::Pure>(&effect))
    decode_pure(op, *pure, i);
  else if (const auto* approx = std::get_if<isa::Approx>(&effect))
    decode_pure(op, {.fn = approx_lanes(*approx)}, i);
  else
    op.handler = std::visit(Handlers{}, effect);
  if (const auto* indexed = std::get_if<isa::BranchIndexed>(&effect)) {
    const Operand& list = i.operands[indexed->targets];
    auto& targets = program_->branch_lists.emplace_back();
    for (const isa::LabelId l : f.branch_targets[list.id].labels)
      targets.push_back(f.labels[l].target + program_->function_start[current_function_]);
    operands[indexed->targets].kind = DecodedOperand::Kind::list;
    operands[indexed->targets].id = static_cast<uint32_t>(program_->branch_lists.size() - 1);
  }
  return op;
}

// A function's code ends with an implicit return (ret or exit), so that running off the end is defined.
void Decoder::decode_function(uint32_t function) {
  current_function_ = function;
  const isa::Function& f = module_.functions[function];
  for (const isa::Instruction& i : f.body) {
    program_->code.push_back(decode_instruction(f, i));
    program_->code.back().pc = static_cast<uint32_t>(program_->code.size() - 1);
    program_->footprints.push_back(isa::footprint(*program_->code.back().effect));
  }
  MicroOp end;
  end.handler = exec_return;
  end.function = function;
  end.pc = static_cast<uint32_t>(program_->code.size());
  program_->code.push_back(end);
  program_->footprints.push_back({.next = isa::Control::returns});
}

uint32_t launch_registers(const isa::Function& f, const isa::ArchSpec& arch) {
  const auto most = static_cast<uint64_t>(arch.max_registers_per_thread);
  if (f.maxnreg && *f.maxnreg <= most) return *f.maxnreg;  // ptxas ignores a larger one
  const auto threads = f.reqntid ? f.reqntid->count() : f.maxntid ? f.maxntid->count() : 0;
  if (threads == 0) return static_cast<uint32_t>(most);
  const auto unit = static_cast<uint64_t>(arch.register_unit_per_thread);
  const uint64_t share = static_cast<uint64_t>(arch.registers_per_sm) /
                         (threads * std::max<uint64_t>(f.minnctapersm.value_or(1), 1)) / unit * unit;
  return static_cast<uint32_t>(std::min(share, most));
}

tl::expected<std::unique_ptr<Program>, isa::Diagnostics> Decoder::run() {
  Program& p = *program_;
  p.module = &module_;
  p.entry = &entry_;
  p.arch = &arch_;
  p.reserved_shared = static_cast<uint32_t>(arch_.reserved_shared_bytes_per_cta);
  p.launch_registers = launch_registers(entry_, arch_);
  p.function_start.assign(module_.functions.size(), isa::no_id);
  p.register_offsets_base.assign(module_.functions.size(), 0);
  p.parameter_registers.assign(module_.symbols.size(), isa::no_id);
  p.frames.resize(module_.functions.size());
  uint32_t entry_index = 0;
  while (&module_.functions[entry_index] != &entry_) ++entry_index;
  graph_ = call_graph(module_, entry_index);
  p.allocates = graph_.allocates;
  for (const uint32_t f : graph_.functions) p.frames[f].exists = graph_.framed[f] != 0;
  p.sink_offset = reserve(512);
  p.carry_offset = reserve(4);
  lay_out_symbols();
  uint32_t start = 0;
  for (const uint32_t f : graph_.functions) {
    p.function_start[f] = start;
    start += static_cast<uint32_t>(module_.functions[f].body.size()) + 1;
    lay_out_registers(f);
  }
  p.start = p.function_start[entry_index];
  p.code.reserve(start);
  for (const uint32_t f : graph_.functions) decode_function(f);
  for (const uint32_t f : graph_.functions) finish_frame(f);
  // ptxas starts no warp with more registers than the largest setmaxnreg.inc grants.
  uint32_t granted = 0;
  for (const MicroOp& op : p.code) {
    const auto* set = op.effect ? std::get_if<isa::SetMaxRegisters>(&*op.effect) : nullptr;
    if (set && set->increase) granted = std::max(granted, static_cast<uint32_t>(set->count));
  }
  if (granted != 0) p.launch_registers = std::min(p.launch_registers, granted);
  place_wgmma_copies(p);
  place_injected_waits(p);
  p.register_bytes = static_cast<uint32_t>(align_up(p.register_bytes, 64));
  return std::move(program_);
}

}  // namespace

tl::expected<std::unique_ptr<Program>, isa::Diagnostics> decode(const isa::Module& module,
                                                                const isa::Function& entry,
                                                                const isa::ArchSpec& arch,
                                                                const std::vector<uint64_t>& global_addresses,
                                                                bool fmad) {
  auto program = Decoder(module, entry, arch, global_addresses).run();
  if (program) contract(**program, fmad);
  return program;
}

}  // namespace palladion::sim
