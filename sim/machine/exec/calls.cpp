// Calls: arguments are copied into the callee's parameters, results back.
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/actuals.h"
#include "sim/machine/exec/frames.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/system_calls.h"

namespace palladion::sim {
namespace {

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
void leave_frames(Exec& x, uint32_t function, Pc call_pc) {
  if (x.program.frames[function].exists) copy_results(x, x.op_at(call_pc), function);
}

Step exec(Exec& x, const MicroOp& op, const isa::Call& e) {
  uint32_t lanes = 0;
  const uint32_t callee = callee_of(x, op.operands[e.function], lanes);
  if (x.take_resumed()) {
    if (callee != isa::no_id && !x.program.frames[callee].exists) copy_results(x, op, callee);
    return Step::next;
  }
  if (callee == isa::no_id && x.launch.recorded) return x.unsupported(say<Phrase::function_not_recorded>());
  if (callee == isa::no_id)
    return x.fault(Code::no_function,
                   say<Phrase::call_of_no_function>(x.uniform_value(op.operands[e.function])));
  const isa::Function& f = x.program.module->functions[callee];
  if (f.entry) return x.unsupported(say<Phrase::call_of_kernel>(f.name));
  if (!f.defined) {
    if (lanes != x.active) return x.unsupported(say<Phrase::external_call_by_some>());
    return call_system(x, op, e, f);
  }
  const size_t results = actuals(op, e.returns).size();
  if (actuals(op, e.arguments).size() != f.params.size() || (results != 0 && results != f.returns.size()))
    return x.fault(Code::call_signature, say<Phrase::call_of_another_signature>(f.name));
  if (x.program.function_start[callee] == isa::no_id)
    return x.unsupported(say<Phrase::indirect_call>(f.name));
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
