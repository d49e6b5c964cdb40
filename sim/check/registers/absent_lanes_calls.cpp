// Calls pass absent values on: in arguments, in results, and in registers that a frame saves.
#include <bit>
#include <cstring>

#include "sim/check/registers/absent_lanes.h"

namespace palladion::sim::check {
namespace {

uint64_t parameter_bytes(const Program& program, isa::SymbolId id) {
  return std::max<uint64_t>(program.module->symbols[id].variable.size(), 1);  // a predicate: one
}

}  // namespace

// A call executes twice: when it begins, and when the callee has returned.
void AbsentLanes::call(const Origin& origin, const isa::Call& e, Warp& warp) {
  const Program& program = *context_.run.program;
  const Lane first = lowest_lane(origin.lanes);
  const DecodedOperand& target = op_at(origin).operands[e.function];
  const bool named = target.kind == DecodedOperand::Kind::function;
  if (!named) {
    const Taint value = taint_of(warp, target.slot.offset, origin.lanes);
    if (value.lanes != 0) report(origin, RegisterSink::operand, value);
  }
  const auto callee_of = [&](Lane lane) {
    return named ? uint64_t{target.id} : value_of(origin, target, lane) - function_addresses;
  };
  const uint64_t callee = callee_of(first);
  set_results(origin, warp, {});
  if (callee >= program.function_start.size() || program.function_start[callee] == isa::no_id) return;
  const auto& groups = context_.cluster.ctas[origin.cta_rank].warps[origin.warp].groups;
  const auto group =
      std::ranges::find_if(groups, [&](const LaneGroup& g) { return (g.mask >> first & 1) != 0; });
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    if (callee_of(lane) != callee) continue;  // it calls later
    if (group->resumed)
      leave(origin, e, static_cast<uint32_t>(callee), lane, warp);
    else
      enter(origin, e, static_cast<uint32_t>(callee), lane, warp);
  }
}

void AbsentLanes::enter(const Origin& origin, const isa::Call& e, uint32_t callee, Lane lane,
                        Warp& warp) const {
  const Program& program = *context_.run.program;
  const auto& params = program.module->functions[callee].params;
  Passed passed;
  if (actuals(op_at(origin), e.arguments).size() != params.size()) return;  // the machine reports it
  for (size_t i = 0; i < params.size(); ++i)
    passed.push_back(
        at(warp, actual(origin, e.arguments, i, lane), parameter_bytes(program, params[i]), lane));
  Activation activation;
  if (program.frames[callee].exists) {
    const WarpState& state = context_.cluster.ctas[origin.cta_rank].warps[origin.warp];
    activation.frame = program.local_bytes + align_up(state.stacks[lane].used, 16);
    for (const Frame::Saved& r : program.frames[callee].registers)
      if (const Taint value = taint_of(warp, r.offset, 1U << lane); value.lanes != 0)
        activation.saved[r.offset] = value;
    warp.activations[lane].push_back(activation);
  }
  for (size_t i = 0; i < params.size(); ++i)
    put(warp, formal(callee, params[i], activation), passed[i], lane);
}

void AbsentLanes::leave(const Origin& origin, const isa::Call& e, uint32_t callee, Lane lane,
                        Warp& warp) const {
  const Program& program = *context_.run.program;
  const auto& returns = program.module->functions[callee].returns;
  const bool framed = program.frames[callee].exists;
  const Activation activation = framed ? warp.activations[lane].back() : Activation{};
  Passed passed;
  for (const isa::SymbolId id : returns)
    passed.push_back(at(warp, formal(callee, id, activation), parameter_bytes(program, id), lane));
  if (framed) {
    warp.activations[lane].pop_back();
    for (const Frame::Saved& r : program.frames[callee].registers) {
      const auto saved = activation.saved.find(r.offset);
      put(warp.registers, r.offset, lane, saved == activation.saved.end() ? Taint{} : saved->second);
    }
  }
  const size_t results = actuals(op_at(origin), e.returns).size();
  if (results != returns.size()) return;  // the call drops them
  for (size_t i = 0; i < results; ++i) {
    const Place to = actual(origin, e.returns, i, lane);
    if (to.slot == isa::no_id) {
      put(warp, to, passed[i], lane);
      continue;
    }
    for (const Taint& value : passed[i]) warp.results[to.slot] = both(warp.results[to.slot], value);
  }
}

uint64_t AbsentLanes::value_of(const Origin& origin, const DecodedOperand& o, Lane lane) const {
  const uint8_t* const block = o.slot.constant ? context_.run.program->constants.data() : block_of(origin);
  uint64_t value = 0;
  std::memcpy(&value, block + o.slot.offset + size_t{o.width} / 8 * lane, o.width / 8U);
  return value;
}

// Of a constant: the sink, which holds nothing.
AbsentLanes::Place AbsentLanes::actual(const Origin& origin, int list, size_t index, Lane lane) const {
  const Program& program = *context_.run.program;
  const Actuals all = actuals(op_at(origin), list);
  const isa::Operand& written = (*all.written)[index];
  const DecodedOperand& decoded = (*all.decoded)[index];
  if (is_block(program, written)) return {.offset = local_offset(value_of(origin, decoded, lane))};
  return {.slot = written.is(isa::Operand::Kind::reg) ? decoded.slot.offset : program.sink_offset};
}

AbsentLanes::Place AbsentLanes::formal(uint32_t callee, isa::SymbolId id,
                                       const Activation& activation) const {
  const Program& program = *context_.run.program;
  if (program.module->symbols[id].variable.space == isa::Space::reg)
    return {.slot = program.parameter_registers[id]};
  const uint64_t in_frame =
      program.frames[callee].exists ? activation.frame + program.frames[callee].variables : 0;
  return {.offset = local_offset(program.symbol_address[id]) + in_frame};
}

std::vector<AbsentLanes::Taint> AbsentLanes::at(const Warp& warp, const Place& place, uint64_t bytes,
                                                Lane lane) const {
  if (place.slot != isa::no_id) return std::vector<Taint>(bytes, taint_of(warp, place.slot, 1U << lane));
  std::vector<Taint> out(bytes);
  for (uint64_t i = 0; i < bytes && !warp.memory.empty(); ++i)
    if (const auto found = warp.memory.find(byte_key(place.offset + i, lane)); found != warp.memory.end())
      out[i] = {1U << lane, found->second.shuffle};
  return out;
}

void AbsentLanes::put(Warp& warp, const Place& place, const std::vector<Taint>& values, Lane lane) {
  if (place.slot != isa::no_id) {
    Taint all;
    for (const Taint& value : values) all = both(all, value);
    return put(warp.registers, place.slot, lane, all);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].lanes != 0)
      warp.memory[byte_key(place.offset + i, lane)] = values[i];
    else
      warp.memory.erase(byte_key(place.offset + i, lane));
  }
}

void AbsentLanes::put(Registers& registers, uint32_t slot, Lane lane, const Taint& value) {
  const auto found = registers.find(slot);
  if (found == registers.end() && value.lanes == 0) return;
  Taint& taint = registers[slot];
  taint = both({taint.lanes & ~(1U << lane), taint.shuffle}, value);
  if (taint.lanes == 0) registers.erase(slot);
}

}  // namespace palladion::sim::check
