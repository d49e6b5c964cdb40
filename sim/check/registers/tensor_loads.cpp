#include "sim/check/registers/tensor_loads.h"

#include <algorithm>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"
#include "sim/program/flow.h"

namespace palladion::sim::check {
namespace {

const isa::TensorMemoryLoad* tensor_load(const MicroOp& op) {
  return op.effect == nullptr ? nullptr : std::get_if<isa::TensorMemoryLoad>(op.effect);
}

bool waits_for_loads(const MicroOp& op) {
  const auto* const wait = op.effect == nullptr ? nullptr : std::get_if<isa::TensorMemoryWait>(op.effect);
  return wait != nullptr && !wait->stores;
}

// Which registers may hold results of loads that have not been waited for, after the instruction.
void flow_load(const Program& program, const MicroOp& op, FlowState& pending) {
  if (waits_for_loads(op) && op.guard < 0) std::ranges::fill(pending, uint8_t{0});
  const bool loads = tensor_load(op) != nullptr;
  for_each_register(program, op, [&](const RegisterUse& use) {
    if (use.reads) pending[use.reg] = 0;
  });
  for_each_register(program, op, [&](const RegisterUse& use) {
    if (use.writes) pending[use.reg] = loads ? 1 : 0;
  });
}

}  // namespace

TensorLoadAnalysis::TensorLoadAnalysis(const Program& program) {
  for (Pc pc{0}; pc < program.code.size(); ++pc) {
    if (tensor_load(program.code[pc]) == nullptr) continue;
    auto& registers = loaded_[pc];
    for_each_register(program, program.code[pc], [&](const RegisterUse& use) {
      if (use.writes) registers.push_back(use.reg);
    });
  }
  if (loaded_.empty()) return;
  uses_.resize(program.code.size());
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) find_uses(program, f);
}

void TensorLoadAnalysis::find_uses(const Program& program, uint32_t function) {
  const isa::Function& f = program.module->functions[function];
  const uint32_t start = program.function_start[function];
  const isa::Cfg cfg = isa::build_cfg(f);
  const FlowState none(program.register_offsets.size());
  const auto pending = flow_forward(cfg, none, none, join_any, [&](const isa::Block& b, FlowState& s) {
    for (uint32_t at = b.first; at < b.last; ++at) flow_load(program, program.code[start + at], s);
  });
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    FlowState state = pending[b];
    for (uint32_t at = cfg.blocks[b].first; at < cfg.blocks[b].last; ++at) {
      const MicroOp& op = program.code[start + at];
      Uses used;
      for_each_register(program, op, [&](const RegisterUse& use) {
        if (state[use.reg] == 0) return;
        if (use.reads) used.read.push_back(use.reg);
        if (use.writes) used.written.push_back(use.reg);
      });
      if (!used.read.empty() || !used.written.empty()) {
        registers_.push_back(std::move(used));
        uses_[start + at] = static_cast<uint32_t>(registers_.size());
      }
      flow_load(program, op, state);
    }
  }
}

TensorLoadRegisters::TensorLoadRegisters(const ClusterContext& context, const TensorLoadAnalysis& analysis,
                                         HappensBefore* order)
    : context_(context),
      analysis_(analysis),
      order_(order),
      warps_(context.run.launch->warps_per_cta()),
      in_flight_(context.cluster.ctas.size() * warps_) {}

void TensorLoadRegisters::on(const TensorAccess& event) {
  if (event.writes) return;
  const uint64_t number = order_ == nullptr ? 0 : order_->tensor().end_of_accesses() - 1;
  Warp& w = in_flight_[warp(event.origin)];
  const std::vector<uint32_t>& loaded = analysis_.loaded(event.origin.pc);
  for (const uint32_t reg : loaded) w.registers[reg] = {event.origin.pc, number};
  w.unread[number] += static_cast<uint32_t>(loaded.size());
}

void TensorLoadRegisters::on(const Fenced& event) {
  const auto* const wait = std::get_if<isa::TensorMemoryWait>(event.origin.effect);
  if (wait != nullptr && !wait->stores) in_flight_[warp(event.origin)] = {};
}

// The loads before the oldest one that still has an unread register are over.
void TensorLoadRegisters::read(const Origin& origin, const std::vector<uint32_t>& registers) {
  Warp& w = in_flight_[warp(origin)];
  bool over = false;
  for (const uint32_t reg : registers) {
    const auto load = w.registers.find(reg);
    if (load == w.registers.end()) continue;
    const auto unread = w.unread.find(load->second.number);
    if (--unread->second == 0) {
      over |= unread == w.unread.begin();
      w.unread.erase(unread);
    }
    w.registers.erase(load);
  }
  if (!over || order_ == nullptr) return;
  order_->loads_read(origin, w.unread.empty() ? order_->tensor().end_of_accesses() : w.unread.begin()->first);
}

void TensorLoadRegisters::on(const Executing& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc)) return;
  const TensorLoadAnalysis::Uses& used = analysis_.used(origin.pc);
  read(origin, used.read);
  auto& pending = in_flight_[warp(origin)].registers;
  for (const uint32_t reg : used.written) {
    const auto load = pending.find(reg);
    if (load == pending.end()) continue;
    report(origin, reg, load->second.pc);
    pending.erase(load);
  }
}

void TensorLoadRegisters::report(const Origin& origin, uint32_t reg, Pc load) {
  const FindingKey key{Code::overwritten_load_destination, origin.pc, load, 0};
  if (context_.reporter.seen(key, origin)) return;
  Finding f;
  f.object = register_object(*context_.run.program, reg, origin.warp);
  Origin loaded = origin;
  loaded.pc = load;
  f.sites = {context_.reporter.site(origin, Does::overwrites),
             context_.reporter.site(loaded, Part{.does = Does::loads, .asynchronous = true})};
  f.missing = say<Phrase::no_wait_ld_between>();
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
