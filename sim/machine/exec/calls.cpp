// Calls: arguments are copied into the callee's parameters, results back. The machine implements vprintf,
// malloc, free and __assertfail itself.
#include <fmt/format.h>

#include "sim/machine/exec/frames.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/heap.h"
#include "sim/machine/exec/printf.h"

namespace palladion::sim {
namespace {

uint64_t local_offset(uint64_t address) { return address & (window_size - 1); }

// A list of the call's arguments or results, as written and as decoded.
struct Actuals {
  const std::vector<isa::Operand>* written = nullptr;
  const std::vector<DecodedOperand>* decoded = nullptr;
  size_t size() const { return written == nullptr ? 0 : written->size(); }
};

Actuals actuals(const MicroOp& op, int index) {
  if (index < 0) return {};
  return {&op.instruction->operands[static_cast<size_t>(index)].elements, &op.operands[index].elements};
}

bool is_block(const Exec& x, const isa::Operand& o) {
  if (!o.is(isa::Operand::Kind::symbol)) return false;
  const isa::Symbol& s = x.program.module->symbols[o.id];
  return s.kind == isa::Symbol::Kind::variable && s.variable.space == isa::Space::param;
}

// A block is in local memory; anything else is a value of at most 8 bytes.
uint8_t* block_of(const Exec& x, const Actuals& list, size_t i, int lane) {
  return local_bytes_at(x, lane, local_offset(x.lane_value((*list.decoded)[i], lane)));
}

void read_actual(const Exec& x, const Actuals& list, size_t i, int lane, uint64_t size, uint8_t* to) {
  const isa::Operand& o = (*list.written)[i];
  const DecodedOperand& d = (*list.decoded)[i];
  if (is_block(x, o)) {
    std::memcpy(to, block_of(x, list, i, lane), size);
    return;
  }
  const bool constant = o.is(isa::Operand::Kind::imm) || o.is(isa::Operand::Kind::symbol);
  const uint64_t value = constant ? static_cast<uint64_t>(d.offset) : x.lane_value(d, lane);
  std::memcpy(to, &value, std::min<uint64_t>(size, 8));
}

void put_register(uint8_t* block, int width, int lane, const uint8_t* from) {
  if (width == 1) {
    uint32_t mask;
    std::memcpy(&mask, block, 4);
    mask = (mask & ~(1U << lane)) | static_cast<uint32_t>(*from & 1) << lane;
    std::memcpy(block, &mask, 4);
  } else {
    const size_t bytes = static_cast<size_t>(width) / 8;
    std::memcpy(block + bytes * static_cast<size_t>(lane), from, bytes);
  }
}

void write_actual(const Exec& x, const Actuals& list, size_t i, int lane, uint64_t size,
                  const uint8_t* from) {
  const DecodedOperand& d = (*list.decoded)[i];
  if (is_block(x, (*list.written)[i]))
    std::memcpy(block_of(x, list, i, lane), from, size);
  else if ((*list.written)[i].is(isa::Operand::Kind::reg))
    put_register(x.lanes<uint8_t>(d), d.width, lane, from);
}

// --- the callee's side ---
// A parameter in memory; of a function with frames in that of its running activation.
uint8_t* formal_block(const Exec& x, uint32_t function, isa::SymbolId id, int lane) {
  uint64_t at = local_offset(x.program.symbol_address[id]);
  if (x.program.frames[function].exists) {
    at += x.warp->stacks[static_cast<size_t>(lane)].frame + x.program.frames[function].variables;
  }
  return local_bytes_at(x, lane, at);
}

const isa::Variable& variable(const Exec& x, isa::SymbolId id) {
  return x.program.module->symbols[id].variable;
}

uint64_t size_of(const Exec& x, isa::SymbolId id) {
  return std::max<uint64_t>(variable(x, id).size(), 1);  // a predicate: a byte
}

void write_formal(const Exec& x, uint32_t function, isa::SymbolId id, int lane, const uint8_t* from) {
  const isa::Variable& v = variable(x, id);
  if (v.space == isa::Space::reg)
    put_register(x.registers + x.program.parameter_registers[id], isa::bits(v.type), lane, from);
  else
    std::memcpy(formal_block(x, function, id, lane), from, size_of(x, id));
}

void read_formal(const Exec& x, uint32_t function, isa::SymbolId id, int lane, uint8_t* to) {
  const isa::Variable& v = variable(x, id);
  if (v.space != isa::Space::reg) {
    std::memcpy(to, formal_block(x, function, id, lane), size_of(x, id));
    return;
  }
  const uint8_t* block = x.registers + x.program.parameter_registers[id];
  const auto width = static_cast<size_t>(isa::bits(v.type));
  if (width == 1) {
    uint32_t mask;
    std::memcpy(&mask, block, 4);
    *to = static_cast<uint8_t>(mask >> lane & 1);
  } else {
    std::memcpy(to, block + width / 8 * static_cast<size_t>(lane), width / 8);
  }
}

// The values of a list of parameters, for all active lanes.
class Values {
 public:
  Values(const Exec& x, const std::vector<isa::SymbolId>& formals) : x_(x), formals_(formals) {
    for (const isa::SymbolId id : formals) bytes_ += std::max<uint64_t>(size_of(x, id), 8);
    data_.resize(bytes_ * 32);
  }
  // Calls visit(parameter's index, id, lane, its bytes).
  void for_each(auto visit) {
    for (uint32_t m = x_.active; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      uint8_t* at = data_.data() + bytes_ * static_cast<size_t>(lane);
      for (size_t i = 0; i < formals_.size(); ++i) {
        visit(i, formals_[i], lane, at);
        at += std::max<uint64_t>(size_of(x_, formals_[i]), 8);
      }
    }
  }

 private:
  const Exec& x_;
  const std::vector<isa::SymbolId>& formals_;
  uint64_t bytes_ = 0;
  std::vector<uint8_t> data_;
};

// --- functions of the system ---
template <class T>
T argument(const Exec& x, const Actuals& list, size_t i, int lane) {
  uint64_t v = 0;
  read_actual(x, list, i, lane, sizeof(T), reinterpret_cast<uint8_t*>(&v));
  return static_cast<T>(v);
}

template <class T>
void give(const Exec& x, const Actuals& results, int lane, T value) {
  if (results.size() != 0)
    write_actual(x, results, 0, lane, sizeof value, reinterpret_cast<const uint8_t*>(&value));
}

// int vprintf(const char* format, void* arguments)
Step call_vprintf(Exec& x, const Actuals& a, const Actuals& results) {
  if (a.size() != 2) return x.unsupported("vprintf without a format and an argument block");
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto text =
        format_guest(x, argument<uint64_t>(x, a, 0, lane), argument<uint64_t>(x, a, 1, lane), lane);
    if (!text) return Step::fault;
    x.cluster.printed += *text;
    give(x, results, lane, static_cast<uint32_t>(text->size()));
  }
  return Step::next;
}

Step call_assertfail(Exec& x, const Actuals& a) {
  if (a.size() < 4) return x.fault("PLD3012", "the kernel's assertion failed");
  const int lane = std::countr_zero(x.active);
  const auto text = guest_string(x, argument<uint64_t>(x, a, 0, lane), lane),
             file = guest_string(x, argument<uint64_t>(x, a, 1, lane), lane);
  if (!text || !file) return Step::fault;
  return x.fault("PLD3012", fmt::format("the kernel's assertion `{}` failed at {}:{}", *text, *file,
                                        argument<uint32_t>(x, a, 2, lane)));
}

std::span<uint8_t> heap_of(const Exec& x) {
  uint8_t* bytes = x.memory.find(x.launch.heap, x.launch.heap_bytes);
  return {bytes, bytes == nullptr ? 0 : x.launch.heap_bytes};
}

// void* malloc(size_t): at the quantum boundary, so that addresses do not depend on the number of host
// threads.
Step call_malloc(Exec& x, const Actuals& a, const Actuals& results) {
  if (a.size() != 1) return x.unsupported("malloc without a size");
  if (!x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t offset = heap_allocate(heap_of(x), argument<uint64_t>(x, a, 0, lane));
    give(x, results, lane, offset == 0 ? uint64_t{0} : x.launch.heap + offset);
  }
  return Step::next;
}

Step call_free(Exec& x, const Actuals& a) {
  if (a.size() != 1) return x.unsupported("free without an address");
  if (!x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const auto address = argument<uint64_t>(x, a, 0, std::countr_zero(m));
    if (address != 0 && !heap_release(heap_of(x), address - x.launch.heap))
      return x.fault("PLD3014", fmt::format("free of the address 0x{:x}, which malloc did not give", address),
                     "the block is free already, or was allocated by the host");
  }
  return Step::next;
}

Step call_system(Exec& x, const MicroOp& op, const isa::Call& e, const isa::Function& f) {
  const Actuals a = actuals(op, e.arguments), results = actuals(op, e.returns);
  if (f.name == "vprintf") return call_vprintf(x, a, results);
  if (f.name == "__assertfail") return call_assertfail(x, a);
  if (f.name == "malloc") return call_malloc(x, a, results);
  if (f.name == "free") return call_free(x, a);
  return x.unsupported(fmt::format("a call of the external function `{}`", f.name));
}

// --- the callee ---
uint32_t function_at(const Exec& x, uint64_t address) {
  const uint64_t index = address - function_addresses;
  return index < x.program.module->functions.size() ? static_cast<uint32_t>(index) : isa::no_id;
}

// The function that the first active lane calls, and the lanes that call the same.
uint32_t callee_of(const Exec& x, const DecodedOperand& o, uint32_t& lanes) {
  lanes = x.active;
  if (o.kind == DecodedOperand::Kind::function) return o.id;
  const uint64_t address = x.uniform_value(o);
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (x.lane_value(o, std::countr_zero(m)) != address) lanes &= ~(m & (0 - m));
  return function_at(x, address);
}

void copy_results(const Exec& x, const MicroOp& call, uint32_t function) {
  const isa::Function& f = x.program.module->functions[function];
  const Actuals results = actuals(call, effect<isa::Call>(call).returns);
  const bool frame = x.program.frames[function].exists;
  if (results.size() != f.returns.size()) {  // a call that drops the results
    if (frame) pop_frames(x, function);
    return;
  }
  Values values(x, f.returns);
  values.for_each(
      [&](size_t, isa::SymbolId id, int lane, uint8_t* to) { read_formal(x, function, id, lane, to); });
  if (frame) pop_frames(x, function);
  values.for_each([&](size_t i, isa::SymbolId id, int lane, const uint8_t* from) {
    write_actual(x, results, i, lane, size_of(x, id), from);
  });
}

// Arguments into the parameters of a new activation.
bool enter(Exec& x, const MicroOp& op, const isa::Call& e, uint32_t callee) {
  const isa::Function& f = x.program.module->functions[callee];
  const Actuals list = actuals(op, e.arguments);
  Values values(x, f.params);
  values.for_each([&](size_t i, isa::SymbolId id, int lane, uint8_t* to) {
    read_actual(x, list, i, lane, size_of(x, id), to);
  });
  if (x.program.frames[callee].exists && !push_frames(x, callee)) return false;
  values.for_each([&](size_t, isa::SymbolId id, int lane, const uint8_t* from) {
    write_formal(x, callee, id, lane, from);
  });
  return true;
}

}  // namespace

// Called by a return: of functions with frames the results are copied before the frame is gone.
void leave_frames(Exec& x, uint32_t function, uint32_t call_pc) {
  if (x.program.frames[function].exists) copy_results(x, x.op_at(call_pc), function);
}

Step exec_call(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::Call>(op);
  uint32_t lanes = 0;
  const uint32_t callee = callee_of(x, op.operands[e.function], lanes);
  if (x.take_resumed()) {
    if (callee != isa::no_id && !x.program.frames[callee].exists) copy_results(x, op, callee);
    return Step::next;
  }
  if (callee == isa::no_id && x.launch.recorded)
    return x.unsupported("a call through an address of a function that a device recorded");
  if (callee == isa::no_id)
    return x.fault("PLD3015",
                   fmt::format("a call through the value 0x{:x}, which is the address of no function",
                               x.uniform_value(op.operands[e.function])),
                   "the pointer was not set, or is of the host");
  const isa::Function& f = x.program.module->functions[callee];
  if (f.entry) return x.unsupported(fmt::format("a call of the kernel `{}`", f.name));
  if (!f.defined) {
    if (lanes != x.active) return x.unsupported("an indirect call of an external function by some lanes");
    return call_system(x, op, e, f);
  }
  const size_t results = actuals(op, e.returns).size();
  if (actuals(op, e.arguments).size() != f.params.size() || (results != 0 && results != f.returns.size()))
    return x.fault("PLD3016",
                   fmt::format("a call of `{}` with another number of arguments or results", f.name));
  if (x.program.function_start[callee] == isa::no_id)
    return x.unsupported(fmt::format("an indirect call of `{}`", f.name));
  LaneGroup& g = x.self();
  const bool differ = lanes != x.active;
  x.active = lanes;
  if (!enter(x, op, e, callee)) return Step::fault;
  if (lanes != g.mask) {  // @p call: the other lanes continue; those with another callee try again
    LaneGroup rest = g;
    rest.mask &= ~lanes;
    rest.pc = differ ? x.pc : x.pc + 1;
    g.mask = lanes;
    g.calls.push_back(x.pc);
    g.pc = x.program.function_start[callee];
    x.warp->groups.push_back(std::move(rest));
    return Step::split;
  }
  g.calls.push_back(x.pc);
  x.pc = x.program.function_start[callee];
  return Step::jump;
}

}  // namespace palladion::sim
