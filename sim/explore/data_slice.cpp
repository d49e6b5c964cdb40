#include "sim/explore/data_slice.h"

#include <algorithm>

#include "sim/check/registers/registers_analysis.h"
#include "sim/explore/computing_branches.h"

namespace palladion::sim::check {
namespace {

bool is_memory(isa::Space space, bool calls) {
  return space != isa::Space::const_ && (space != isa::Space::param || calls);
}

bool is_followed(isa::Space space) {
  return is_shared(space) || space == isa::Space::generic || space == isa::Space::local ||
         space == isa::Space::param;
}

bool has_number(const isa::Operand& o) {
  return o.is(isa::Operand::Kind::special) ? tells_of_cluster(o.special)
                                           : std::ranges::any_of(o.elements, has_number);
}

}  // namespace

bool gives_data(const isa::Footprint& f, bool calls) {
  if (f.values == isa::Values::tensor || f.next == isa::Control::calls) return true;
  return std::ranges::any_of(f.memory,
                             [&](const isa::MemoryUse& m) { return m.reads && is_memory(m.space, calls); });
}

bool tells_of_cluster(isa::Special special) {
  using isa::Special;
  return special == Special::ctaid || special == Special::clusterid || special == Special::smid ||
         special == Special::gridid;
}

DataSlice::DataSlice(const Program& program, Sources sources)
    : sources_(sources), watched_(program.code.size()) {
  has_calls_ = std::ranges::any_of(program.footprints,
                                   [](const isa::Footprint& f) { return f.next == isa::Control::calls; });
  const std::vector<bool> deciding = find_deciding(program);
  std::vector<bool> data(deciding.size());
  find_data(program, data);
  index_.assign(deciding.size(), isa::no_id);
  for (size_t r = 0; r < deciding.size(); ++r)
    if (deciding[r] && data[r]) index_[r] = tracked_++;
  for (const MicroOp& op : program.code)
    for_each_value(program, op, [&](const RegisterUse& use) {
      if (index_[use.reg] == isa::no_id) return;
      const bool decided = !harmless_[op.pc] && matters(program.footprint(op), use);
      if (decided || use.writes || use.operand < 0) watched_[op.pc] = 1;
      if (decided) empty_ = false;
    });
}

// Of work: the number of a cluster, from special registers or an answer; memory may hold it.
bool DataSlice::gives(const Program& program, const MicroOp& op) const {
  const isa::Footprint& f = program.footprint(op);
  if (sources_ == Sources::data) return gives_data(f, has_calls_);
  if (op.instruction == nullptr) return false;
  if (f.next == isa::Control::calls || std::holds_alternative<isa::QueryCancel>(*op.effect)) return true;
  return std::ranges::any_of(op.instruction->operands, has_number) ||
         std::ranges::any_of(f.memory, [&](const isa::MemoryUse& m) {
           return m.reads && is_followed(m.space) && is_memory(m.space, has_calls_);
         });
}

std::vector<bool> DataSlice::deciding_without_harmless(const Program& program) {
  std::vector<bool> others = harmless_;
  others.flip();
  std::vector<bool> deciding = deciding_registers(program, others, false);
  through_memory_ = loads_for_decisions(program, deciding);
  return through_memory_ ? deciding_registers(program, others, true) : deciding;
}

// A branch is harmless unless one of its ways writes what decides, or what the other way would leave
// unwritten: each that is not makes more registers decisive.
std::vector<bool> DataSlice::find_deciding(const Program& program) {
  const std::vector<uint32_t> meetings = computing_branches(program);
  harmless_.assign(program.code.size(), false);
  std::vector<Pc> branches;
  for (Pc pc{0}; sources_ == Sources::data && pc < meetings.size(); ++pc)
    if (meetings[pc] != isa::no_id) branches.push_back(pc), harmless_[pc] = true;
  std::vector<bool> unwritten(register_count(program));
  if (!branches.empty()) {
    const UnwrittenAnalysis analysis(program);
    for (uint32_t i = 0; i < analysis.tracked(); ++i) unwritten[analysis.register_at(i)] = true;
  }
  const auto reaches_more = [&](Pc pc, const std::vector<bool>& deciding) {
    bool more = false;
    for (uint32_t at = pc + 1; at < meetings[pc]; ++at)
      for_each_value(program, program.code[at], [&](const RegisterUse& use) {
        more |= use.writes && (deciding[use.reg] || unwritten[use.reg]);
      });
    return more;
  };
  while (true) {
    std::vector<bool> deciding = deciding_without_harmless(program);
    const size_t before = branches.size();
    std::erase_if(branches, [&](Pc pc) {
      if (!reaches_more(pc, deciding)) return false;
      harmless_[pc] = false;
      return true;
    });
    if (branches.size() == before) return deciding;
  }
}

// Registers to which data may get, in any order of the instructions.
void DataSlice::find_data(const Program& program, std::vector<bool>& data) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const MicroOp& op : program.code) {
      bool results = gives(program, op);
      for_each_value(program, op, [&](const RegisterUse& use) { results |= use.reads && data[use.reg]; });
      for_each_value(program, op, [&](const RegisterUse& use) {
        if (!results || !use.writes || data[use.reg]) return;
        data[use.reg] = changed = true;
      });
    }
  }
}

bool DataSlice::loads_for_decisions(const Program& program, const std::vector<bool>& deciding) const {
  return std::ranges::any_of(program.code, [&](const MicroOp& op) {
    const isa::MemoryUse* const from = program.footprint(op).read();
    if (from == nullptr || !is_followed(from->space) || !is_memory(from->space, has_calls_)) return false;
    bool needed = false;
    for_each_value(program, op, [&](const RegisterUse& use) { needed |= use.writes && deciding[use.reg]; });
    return needed;
  });
}

}  // namespace palladion::sim::check
