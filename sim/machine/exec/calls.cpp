// Calls: parameter blocks are copied into the callee's, results back. The machine implements vprintf itself.
#include <fmt/format.h>

#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/printf.h"

namespace palladion::sim {
namespace {

uint64_t local_offset(uint64_t address) { return address & (window_size - 1); }

// Copies a parameter block between two places in the local memory of the active lanes.
void copy_block(const Exec& x, uint64_t from, uint64_t to, uint64_t size) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    uint8_t* base = x.warp->local.data() + static_cast<size_t>(std::countr_zero(m)) * x.program.local_bytes;
    std::memcpy(base + local_offset(to), base + local_offset(from), size);
  }
}

const std::vector<DecodedOperand>& elements(const MicroOp& op, int index) {
  static const std::vector<DecodedOperand> none;
  return index < 0 ? none : op.operands[index].elements;
}

bool copy_arguments(const Exec& x, const std::vector<DecodedOperand>& blocks,
                    const std::vector<isa::SymbolId>& callee, bool in) {
  if (blocks.size() != callee.size()) return false;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const isa::Variable& v = x.program.module->symbols[callee[i]].variable;
    if (v.space != isa::Space::param || !blocks[i].slot.constant) return false;
    const auto outer = static_cast<uint64_t>(blocks[i].offset), inner = x.program.symbol_address[callee[i]];
    in ? copy_block(x, outer, inner, v.size()) : copy_block(x, inner, outer, v.size());
  }
  return true;
}

uint64_t block_value(const Exec& x, const DecodedOperand& block, int lane, uint64_t size) {
  uint64_t v = 0;
  std::memcpy(&v,
              x.warp->local.data() + static_cast<size_t>(lane) * x.program.local_bytes +
                  local_offset(static_cast<uint64_t>(block.offset)),
              size);
  return v;
}

// int vprintf(const char* format, void* arguments)
Step call_vprintf(Exec& x, const MicroOp& op, const isa::Call& e) {
  const auto& arguments = elements(op, e.arguments);
  if (arguments.size() != 2) return x.unsupported("vprintf without a format and an argument block");
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto text =
        format_guest(x, block_value(x, arguments[0], lane, 8), block_value(x, arguments[1], lane, 8), lane);
    if (!text) return Step::fault;
    x.cluster.printed += *text;
    const auto& results = elements(op, e.returns);
    if (results.empty()) continue;
    const auto count = static_cast<uint32_t>(text->size());
    std::memcpy(x.warp->local.data() + static_cast<size_t>(lane) * x.program.local_bytes +
                    local_offset(static_cast<uint64_t>(results[0].offset)),
                &count, 4);
  }
  return Step::next;
}

Step call_assertfail(Exec& x, const MicroOp& op, const isa::Call& e) {
  const auto& a = elements(op, e.arguments);
  if (a.size() < 4) return x.fault("PLD3012", "the kernel's assertion failed");
  const int lane = std::countr_zero(x.active);
  const auto text = guest_string(x, block_value(x, a[0], lane, 8), lane),
             file = guest_string(x, block_value(x, a[1], lane, 8), lane);
  const auto line = static_cast<uint32_t>(block_value(x, a[2], lane, 4));
  if (!text || !file) return Step::fault;
  return x.fault("PLD3012", fmt::format("the kernel's assertion `{}` failed at {}:{}", *text, *file, line));
}

// The function that a call names, or that all lanes of an indirect call agree on.
uint32_t callee_of(const Exec& x, const DecodedOperand& o) {
  if (o.kind == DecodedOperand::Kind::function) return o.id;
  const uint64_t address = x.uniform_value(o);
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (x.lane_value(o, std::countr_zero(m)) != address) return isa::no_id;
  const uint64_t index = address - function_addresses;
  return index < x.program.module->functions.size() ? static_cast<uint32_t>(index) : isa::no_id;
}

}  // namespace

Step exec_call(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::Call>(op);
  const uint32_t callee = callee_of(x, op.operands[e.function]);
  if (callee == isa::no_id)
    return x.unsupported("an indirect call whose target differs between lanes, or is no function");
  const isa::Function& f = x.program.module->functions[callee];
  if (x.take_resumed()) {
    copy_arguments(x, elements(op, e.returns), f.returns, false);
    return Step::next;
  }
  if (!f.defined) {
    if (f.name == "vprintf") return call_vprintf(x, op, e);
    if (f.name == "__assertfail") return call_assertfail(x, op, e);
    return x.unsupported(fmt::format("a call of the external function `{}`", f.name));
  }
  if (!copy_arguments(x, elements(op, e.arguments), f.params, true) ||
      elements(op, e.returns).size() != f.returns.size())
    return x.unsupported(
        fmt::format("a call of `{}` with arguments in registers or of another number", f.name));
  if (x.program.function_start[callee] == isa::no_id)
    return x.unsupported(fmt::format("an indirect call of `{}`", f.name));
  LaneGroup& g = x.self();
  if (g.calls.size() >= 1000) return x.fault("PLD3013", "more than 1000 nested calls");
  if (x.active != g.mask) {  // @p call: the other lanes continue
    LaneGroup rest = g;
    rest.mask &= ~x.active;
    rest.pc = x.pc + 1;
    g.mask = x.active;
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
