#include "sim/program/compile/drop_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "sim/launch/fault.h"
#include "sim/program/values_flow.h"

namespace palladion::sim {
namespace {

constexpr size_t named_needs = 3;  // in a refusal

std::string place_of(const Program& program, const isa::Instruction& i) {
  const isa::SourceLoc* loc = program.module->source(i);
  if (loc == nullptr || !loc->known()) return fmt::format("line {}", i.origin.ptx_line);
  return fmt::format("{}:{}", loc->file, loc->line);
}

std::string describe_source(const Program& program, Pc pc) {
  const MicroOp& op = program.code[pc];
  const isa::Footprint& f = program.footprint(op);
  const char* what = f.next == isa::Control::calls ? "the result of the call"
                     : f.products != 0             ? "the product computed"
                                                   : "the value loaded";
  return fmt::format("{} at {}", what, place_of(program, *op.instruction));
}

isa::Diagnostic refusal(const Program& program, const ValueFlow::Sink& sink) {
  const isa::Instruction& i = *program.code[sink.pc].instruction;
  isa::Diagnostic d = sim::refusal(Code::values_needed,
                                   fmt::format("a run without values is not possible: {} depends on {}",
                                               describe_need(program, sink.pc, sink.operand, sink.address),
                                               describe_source(program, Pc(sink.source))));
  if (const isa::SourceLoc* loc = program.module->source(i))
    d.loc = *loc;
  else
    d.loc.line = i.origin.ptx_line;
  return d;
}

// One for each source line: a loop that is unrolled many times is reported once.
isa::Diagnostics refusals(const Program& program, const std::vector<ValueFlow::Sink>& sinks) {
  isa::Diagnostics out;
  std::unordered_set<std::string> messages;
  for (const ValueFlow::Sink& sink : sinks) {
    isa::Diagnostic d = refusal(program, sink);
    if (messages.insert(d.message).second && out.size() < named_needs) out.push_back(std::move(d));
  }
  if (messages.size() > named_needs)
    out.back().message += fmt::format(" (and {} more)", messages.size() - named_needs);
  return out;
}

bool writes_tensor_map(const isa::Footprint& f) {
  return std::ranges::any_of(
      f.memory, [](const isa::MemoryUse& m) { return m.writes && m.content == isa::Content::tensor_map; });
}

// Which memory control reads.
void find_tracked(Program& program, const ValueFlow& flow) {
  const auto note = [&](isa::Space s) {
    program.tracks_shared |= may_be_shared(s);
    program.tracks_global |= may_be_global(s);
  };
  for (const MicroOp& op : program.code) {
    const isa::Footprint& f = program.footprint(op);
    if (!flow.is_control(op.pc) && !writes_tensor_map(f)) continue;
    for (const isa::MemoryUse& m : f.memory) note(m.space);
  }
}

bool is_tracked(const Program& program, isa::Space s) {
  return (program.tracks_shared && may_be_shared(s)) || (program.tracks_global && may_be_global(s));
}

bool prints(const Program& program, const MicroOp& op) {
  const auto* call = std::get_if<isa::Call>(op.effect);
  if (call == nullptr) return false;
  const DecodedOperand& f = op.operands[call->function];
  return f.kind == DecodedOperand::Kind::function && program.module->functions[f.id].name == "vprintf";
}

void rewrite_store(const Program& program, const isa::Store& s, MicroOp& op) {
  const bool stays = s.space == isa::Space::global && s.order == isa::Order::weak && !program.tracks_global;
  op.moves &= !stays;
  if (is_tracked(program, s.space)) op.data = DataUse::noted;
}

// What control reads through this instruction must be known.
bool is_checked(const Program& program, const isa::Effect& e, bool control) {
  return (control && (std::holds_alternative<isa::Load>(e) || std::holds_alternative<isa::Fence>(e))) ||
         std::holds_alternative<isa::TensormapReplace>(e) ||
         (program.tracks_global && std::holds_alternative<isa::TensorCopy>(e));
}

void rewrite(const Program& program, const ValueFlow& flow, MicroOp& op) {
  const bool data = flow.is_data(op.pc), control = flow.is_control(op.pc);
  if (program.footprint(op).values == isa::Values::lane_wise) {
    if (data) op.data = DataUse::none;
    return;
  }
  op.moves = !data;
  if (prints(program, op)) op.data = DataUse::none;
  if (const auto* s = std::get_if<isa::Store>(op.effect)) rewrite_store(program, *s, op);
  if (is_checked(program, *op.effect, control)) op.data = DataUse::checked;
  if (const auto* a = std::get_if<isa::Atomic>(op.effect)) {
    if (data && is_tracked(program, a->space)) op.data = DataUse::noted;
    if (control && !data) op.data = DataUse::checked;
  }
}

}  // namespace

std::string describe_need(const Program& program, Pc pc, int operand, bool address) {
  const MicroOp& op = program.code[pc];
  const isa::Instruction& i = *op.instruction;
  const std::string place = place_of(program, i);
  if (program.footprint(op).next == isa::Control::branches) return fmt::format("the branch at {}", place);
  if (operand < 0) return fmt::format("whether `{}` at {} is executed", i.op->name, place);
  if (address) return fmt::format("the address of `{}` at {}", i.op->name, place);
  return fmt::format("operand `{}` of `{}` at {}", i.form->operands[static_cast<size_t>(operand)].name,
                     i.op->name, place);
}

isa::Diagnostics drop_values(Program& program) {
  const ValueFlow flow(program);
  if (!flow.sinks().empty()) return refusals(program, flow.sinks());
  find_tracked(program, flow);
  program.local_unmaterialised = flow.local_data();
  for (MicroOp& op : program.code)
    if (op.instruction != nullptr) rewrite(program, flow, op);
  return {};
}

}  // namespace palladion::sim
