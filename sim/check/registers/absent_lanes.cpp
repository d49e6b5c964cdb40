#include "sim/check/registers/absent_lanes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/cluster_answer.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/shuffle_sources.h"

namespace palladion::sim::check {
namespace {

constexpr size_t most_bytes = 32 * 8;  // of a register of 32 lanes
using Lanes = std::array<uint8_t, most_bytes>;

// Random bits, and numbers around 1 and 0: each series differs from lane to lane.
constexpr uint32_t series = 4;
void replace(Lanes& lanes, uint32_t width, uint32_t which, uint32_t mask, uint64_t place) {
  if (width == 1) {
    uint32_t bits;
    std::memcpy(&bits, lanes.data(), sizeof bits);
    bits ^= mask;
    std::memcpy(lanes.data(), &bits, sizeof bits);
    return;
  }
  static constexpr uint64_t always[series] = {0, 0x3F80'0000'3F80'0000, 0, 0xBF80'0000'BF80'0000};
  static constexpr uint64_t varying[series] = {~0ULL, 0x007F'FFFF'007F'FFFF, 0x0000'0003'0000'0003,
                                               0x007F'FFFF'007F'FFFF};
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    const uint64_t other = always[which] | (scramble(place * 32 + lane + which) & varying[which]);
    std::memcpy(lanes.data() + size_t{lane} * width / 8, &other, width / 8);
  }
}

// Results of votes and the like depend on all lanes that take part.
bool is_of_all_lanes(const isa::Effect& e) {
  return std::holds_alternative<isa::Vote>(e) || std::holds_alternative<isa::Match>(e) ||
         std::holds_alternative<isa::Redux>(e);
}

}  // namespace

AbsentLanes::AbsentLanes(const ClusterContext& context, const AbsentLanesAnalysis& analysis)
    : context_(context), analysis_(analysis), warps_(context.run.launch->warps_per_cta()) {}

AbsentLanes::Warp& AbsentLanes::warp_of(const Origin& origin) {
  if (state_.empty()) state_.resize(context_.cluster.ctas.size() * warps_);
  return state_[origin.cta_rank * warps_ + origin.warp];
}

const uint8_t* AbsentLanes::block_of(const Origin& origin) const {
  return context_.cluster.ctas[origin.cta_rank].warps[origin.warp].registers.data();
}

AbsentLanes::Taint AbsentLanes::taint_of(const Warp& warp, uint32_t slot, uint32_t lanes) const {
  const auto at = warp.registers.find(slot);
  return at == warp.registers.end() ? Taint{} : Taint{at->second.lanes & lanes, at->second.shuffle};
}

void AbsentLanes::on(const Reached& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc)) return;
  Warp& warp = warp_of(origin);
  const MicroOp& op = op_at(origin);
  warp.guard = taint_of(warp, static_cast<uint32_t>(op.guard), origin.lanes);
  if (warp.guard.lanes == 0) return;
  const isa::Footprint& f = context_.run.program->footprint(op);
  if (!f.registers_only() || f.next != isa::Control::next)
    return report(origin, RegisterSink::guard, std::exchange(warp.guard, {}));
  // Whether the instruction is executed is not known, so the results are not.
  for_each_register(*context_.run.program, op, [&](const RegisterUse& use) {
    if (!use.writes) return;
    Taint& value = warp.registers[context_.run.program->register_offsets[use.reg]];
    value = {value.lanes | warp.guard.lanes, warp.guard.shuffle};
  });
}

void AbsentLanes::on(const Executing& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc)) return;
  Warp& warp = warp_of(origin);
  warp.results.clear();
  warp.stored = {};
  if (op_at(origin).guard < 0) warp.guard = {};
  const isa::Effect& effect = *op_at(origin).effect;
  if (const auto* const e = std::get_if<isa::Call>(&effect)) return call(origin, *e, warp);
  const auto* const e = std::get_if<isa::Shuffle>(&effect);
  const auto* const query = std::get_if<isa::QueryCancel>(&effect);
  if (e == nullptr && query == nullptr && warp.registers.empty() && warp.memory.empty()) return;
  judge(origin, warp);
  if (e != nullptr) return shuffle(origin, *e, warp);
  if (query != nullptr && query->ctaid >= 0) return decode_answer(origin, *query, warp);
  if (op_at(origin).fn != nullptr) return compute(origin, warp);
  Taint value = any_source(origin, warp);
  if (is_of_all_lanes(effect) && value.lanes != 0) value.lanes = origin.lanes;
  if (context_.run.program->footprint(op_at(origin)).read() != nullptr) value = {};
  set_results(origin, warp, value);
}

// Of a store or a load of private memory: the bytes. A generic store may reach memory of all threads.
void AbsentLanes::on(const Access& event) {
  if (!analysis_.watches(event.origin.pc) || !may_be_private(event.space)) return;
  Warp& warp = warp_of(event.origin);
  Taint loaded, shared;
  for (uint32_t m = event.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    if (!is_private(space_of(event.space, event.addresses[lane]))) {
      shared = {shared.lanes | (warp.stored.lanes & m & (0 - m)), warp.stored.shuffle};
      continue;
    }
    if (event.space == isa::Space::param && event.addresses[lane] < local_window) continue;  // the kernel's
    for (uint32_t i = 0; i < event.size; ++i) {
      const uint64_t key = byte_key(event.addresses[lane] + i, lane);
      if (event.kind == Access::Kind::read) {
        const auto found = warp.memory.find(key);
        if (found != warp.memory.end()) loaded = {loaded.lanes | 1U << lane, found->second.shuffle};
      } else if ((warp.stored.lanes >> lane & 1) != 0) {
        warp.memory[key] = warp.stored;
      } else {
        warp.memory.erase(key);
      }
    }
  }
  if (event.kind == Access::Kind::read) set_results(event.origin, warp, loaded);
  if (shared.lanes != 0) report(event.origin, RegisterSink::data, shared);
}

void AbsentLanes::on(const Executed& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc)) return;
  Warp& warp = warp_of(origin);
  const Taint guard = std::exchange(warp.guard, {});
  for (const auto& [slot, result] : warp.results) {
    Taint& value = warp.registers[slot];
    value = {(value.lanes & ~origin.lanes) | result.lanes | guard.lanes, result.lanes != 0  ? result.shuffle
                                                                         : guard.lanes != 0 ? guard.shuffle
                                                                                            : value.shuffle};
    if (value.lanes == 0) warp.registers.erase(slot);
  }
  warp.results.clear();
}

void AbsentLanes::judge(const Origin& origin, Warp& warp) {
  const Program& program = *context_.run.program;
  const MicroOp& op = op_at(origin);
  const isa::MemoryUse* const to = program.footprint(op).written();
  for_each_register(program, op, [&](const RegisterUse& use) {
    const Taint value = taint_of(warp, program.register_offsets[use.reg], origin.lanes);
    RegisterSink sink;
    if (value.lanes == 0 || !use.reads) return;
    const bool generic = to != nullptr && to->space == isa::Space::generic;  // its address decides
    if (sink_of(program, op, use, sink) && sink != RegisterSink::guard &&
        !(generic && sink == RegisterSink::data))
      return report(origin, sink, value);
    if (to != nullptr && may_be_private(to->space) && use.operand >= 0)
      warp.stored = both(warp.stored, value);
  });
}

AbsentLanes::Taint AbsentLanes::any_source(const Origin& origin, const Warp& warp) const {
  const Program& program = *context_.run.program;
  Taint out;
  for_each_register(program, op_at(origin), [&](const RegisterUse& use) {
    const Taint value = taint_of(warp, program.register_offsets[use.reg], origin.lanes);
    if (use.reads && use.operand >= 0) out = both(out, value);
  });
  return out;
}

void AbsentLanes::set_results(const Origin& origin, Warp& warp, const Taint& value) const {
  const Program& program = *context_.run.program;
  for_each_register(program, op_at(origin), [&](const RegisterUse& use) {
    if (use.writes) warp.results[program.register_offsets[use.reg]] = value;
  });
}

void AbsentLanes::compute(const Origin& origin, Warp& warp) {
  const MicroOp& op = op_at(origin);
  const Taint sources = any_source(origin, warp);
  for (int k = 0; k < op.destinations; ++k)
    warp.results[op.d[k].offset] = {sources.lanes == 0 ? 0 : changed_lanes(origin, warp, k), sources.shuffle};
}

// The lanes whose result is another one with other values in place of the absent ones.
uint32_t AbsentLanes::changed_lanes(const Origin& origin, const Warp& warp, int destination) const {
  const MicroOp& op = op_at(origin);
  const Program& program = *context_.run.program;
  const uint32_t width = analysis_.width(op.d[destination].offset);
  const auto perform = [&](uint32_t which) {
    std::array<Lanes, 8> to{}, from{};
    isa::LaneArgs a;
    for (int i = 0; i < op.destinations; ++i) a.d[i] = to[i].data();
    for (int i = 0; i < op.sources; ++i) {
      const Slot& s = op.s[i];
      const auto& block = context_.cluster.ctas[origin.cta_rank].warps[origin.warp].registers;
      const uint8_t* const at = (s.constant ? program.constants.data() : block.data()) + s.offset;
      const size_t left = (s.constant ? program.constants.size() : block.size()) - s.offset;
      std::memcpy(from[i].data(), at, std::min(left, most_bytes));
      const Taint value = s.constant ? Taint{} : taint_of(warp, s.offset, origin.lanes);
      if (which < series && value.lanes != 0)
        replace(from[i], analysis_.width(s.offset), which, value.lanes, s.offset);
      if ((op.negated_sources >> i & 1) != 0)
        for (size_t b = 0; b < sizeof(uint32_t); ++b) from[i][b] = static_cast<uint8_t>(~from[i][b]);
      a.s[i] = from[i].data();
    }
    a.mask = origin.lanes;
    op.fn(a);
    return to[destination];
  };
  const Lanes usual = perform(series);
  uint32_t changed = 0;
  for (uint32_t which = 0; which < series; ++which) {
    const Lanes other = perform(which);
    for (Lane lane{0}; lane < 32; ++lane) {
      const size_t first = width == 1 ? lane / 8 : size_t{lane} * width / 8;
      const bool differs = width == 1 ? ((usual[first] ^ other[first]) >> lane % 8 & 1) != 0
                                      : std::memcmp(&usual[first], &other[first], width / 8) != 0;
      changed |= static_cast<uint32_t>(differs) << lane;
    }
  }
  return changed & origin.lanes;
}

void AbsentLanes::shuffle(const Origin& origin, const isa::Shuffle& e, Warp& warp) {
  const Program& program = *context_.run.program;
  const MicroOp& op = op_at(origin);
  const auto lanes = [&](int operand) {
    const Slot& s = op.operands[operand].slot;
    return reinterpret_cast<const uint32_t*>((s.constant ? program.constants.data() : block_of(origin)) +
                                             s.offset);
  };
  int32_t from[32];
  const uint32_t in_range = shuffle_sources(e.mode, lanes(e.lane), lanes(e.clamp), from);
  const uint32_t* const members = lanes(e.members);
  const Slot& source = op.operands[e.value].slot;
  const Taint value = source.constant ? Taint{} : taint_of(warp, source.offset, ~0U);
  Taken taken{.origin = origin};
  uint32_t passed = 0;
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    const auto at = static_cast<uint32_t>(from[lane]);
    const uint32_t there = origin.lanes & members[lane];
    if ((value.lanes >> at & 1) != 0) passed |= 1U << lane;
    if ((in_range >> lane & 1) == 0 || (there >> at & 1) != 0) continue;
    taken.lanes |= 1U << lane;
    taken.from |= 1U << at;
  }
  Taint result{passed, value.shuffle};
  if (taken.lanes != 0) {
    const WarpState& state = context_.cluster.ctas[origin.cta_rank].warps[origin.warp];
    const uint64_t threads = context_.run.launch->block.count(), first = uint64_t{32} * origin.warp;
    const uint32_t exist = threads - first >= 32 ? ~0U : (1U << (threads - first)) - 1;
    const uint32_t mask = members[std::countr_zero(taken.lanes)];
    taken.why = (taken.from & exist) == 0         ? Phrase::lanes_do_not_exist
                : (taken.from & state.alive) == 0 ? Phrase::lanes_have_exited
                : (taken.from & mask) == 0        ? Phrase::lanes_not_in_mask
                                                  : Phrase::lanes_do_not_execute;
    result = both(result, {taken.lanes, keep(taken)});
  }
  if (e.dst >= 0) warp.results[op.operands[e.dst].slot.offset] = result;
  if (e.in_range >= 0) warp.results[op.operands[e.in_range].slot.offset] = {};
}

void AbsentLanes::decode_answer(const Origin& origin, const isa::QueryCancel& e, Warp& warp) {
  const uint8_t* const answers = block_of(origin) + op_at(origin).operands[e.response].slot.offset;
  Taken taken{.code = Code::first_cta_of_refusal, .origin = origin, .why = Phrase::answer_gives_no_cluster};
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    ClusterAnswer answer;
    std::memcpy(&answer, answers + lane * sizeof answer, sizeof answer);
    if (answer.given == 0) taken.lanes |= 1U << lane;
  }
  set_results(origin, warp, taken.lanes == 0 ? Taint{} : Taint{taken.lanes, keep(taken)});
}

// Answers whose first CTA was asked for and dropped: PTX's text alone is broken.
void AbsentLanes::on(const ClusterEnded&) {
  for (const Taken& taken : taken_) {
    const bool used = std::ranges::any_of(
        taken_, [&](const Taken& t) { return t.reported && t.origin.pc == taken.origin.pc; });
    if (taken.code == Code::first_cta_of_refusal && !used)
      report({taken.code, taken.origin.pc, taken.origin.pc, 0}, taken, std::nullopt);
  }
}

// The last one of a warp at an instruction stands for all.
uint32_t AbsentLanes::keep(const Taken& taken) {
  const uint64_t warp = taken.origin.cta_rank * warps_ + taken.origin.warp;
  const auto [at, is_new] =
      taken_at_.try_emplace(warp << 32 | taken.origin.pc, static_cast<uint32_t>(taken_.size()));
  if (is_new) taken_.emplace_back();
  const bool reported = taken_[at->second].reported;
  taken_[at->second] = taken;
  taken_[at->second].reported = reported;
  return at->second;
}

void AbsentLanes::report(const Origin& origin, RegisterSink sink, const Taint& value) {
  Taken& taken = taken_[value.shuffle];
  taken.reported = true;
  Origin used = origin;
  used.lanes = value.lanes;
  report({taken.code, taken.origin.pc, origin.pc, 0}, taken, context_.reporter.site(used, does_with(sink)));
}

// Without a use of the value: it was dropped.
void AbsentLanes::report(const FindingKey& key, const Taken& taken, std::optional<Site> use) {
  Origin by = taken.origin;
  by.lanes = taken.lanes;
  if (context_.reporter.seen(key, by)) return;
  Finding f;
  f.sites.push_back(context_.reporter.site(by, Does::reads));
  if (use)
    f.sites.push_back(std::move(*use));
  else
    f.severity = FindingSeverity::strict;
  const Program& program = *context_.run.program;
  for_each_register(program, program.code[taken.origin.pc], [&](const RegisterUse& u) {
    if (u.writes && f.object.names.empty()) f.object = register_object(program, u.reg, taken.origin.warp);
  });
  const WarpLanes takers{.warp = taken.origin.warp, .lanes = taken.lanes};
  const WarpLanes sources{.warp = taken.origin.warp, .lanes = taken.from};
  f.missing = taken.from == 0 ? Statement{taken.why, {takers}} : Statement{taken.why, {takers, sources}};
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
