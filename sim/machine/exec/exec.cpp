#include "sim/machine/exec/exec.h"

#include <utility>

#include "sim/launch/fault.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/frames.h"
#include "sim/machine/exec/place.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim {

uint64_t Exec::lane_value(const DecodedOperand& o, int i) const {
  switch (o.width) {
    case 1:
      return predicate_value(o) >> i & 1;
    case 8:
      return lanes<uint8_t>(o)[i];
    case 16:
      return lanes<uint16_t>(o)[i];
    case 32:
      return lanes<uint32_t>(o)[i];
    default:
      return lanes<uint64_t>(o)[i];
  }
}

uint64_t Exec::address_of_lane(const DecodedOperand& o, int i) const {
  return lane_value(o, i) + static_cast<uint64_t>(o.offset);
}

bool Exec::same_in_lanes(const DecodedOperand& o, const char* what) {
  const int first = std::countr_zero(active);
  const uint64_t value = lane_value(o, first);
  for (uint32_t m = active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (lane_value(o, lane) == value) continue;
    fault(Code::differing_operand,
          say<Phrase::operand_differs>(what, value, first, lane_value(o, lane), lane));
    return false;
  }
  return true;
}

void Exec::addresses(const DecodedOperand& o, uint64_t out[32]) const {
  const auto offset = static_cast<uint64_t>(o.offset);
  if (o.width == 64) {
    const auto* base = lanes<uint64_t>(o);
    for (int i = 0; i < 32; ++i) out[i] = base[i] + offset;
  } else {  // 32-bit addresses of shared, local, param windows
    const auto* base = lanes<uint32_t>(o);
    for (int i = 0; i < 32; ++i) out[i] = static_cast<uint32_t>(base[i] + offset);
  }
}

uint8_t* Exec::shared(uint64_t address, uint64_t size, const char* what, Code no_cta) {
  const auto a = static_cast<uint32_t>(address);
  const uint32_t rank = a >> cta_rank_shift, offset = a & shared_offset_mask;
  if (rank >= cluster.ctas.size()) {
    fault(no_cta, say<Phrase::shared_of_no_cta>(what, rank, cluster.ctas.size()));
    return nullptr;
  }
  CtaState& target = cluster.ctas[rank];
  if (target.shared.empty() || offset + size > target.shared.size() || offset < program.reserved_shared) {
    fault(Code::shared_bounds,
          say<Phrase::outside_shared>(what, size, offset, program.reserved_shared, target.shared.size()));
    return nullptr;
  }
  return target.shared.data() + offset;
}

namespace {

Statement help_of(GlobalMemory::Where where) {
  switch (where) {
    case GlobalMemory::Where::null:
      return say<Phrase::give_an_array>();
    case GlobalMemory::Where::freed:
      return say<Phrase::free_behind_last_use>();
    case GlobalMemory::Where::host:
      return say<Phrase::give_device_memory>();
    default:
      return say<Phrase::guard_the_access>();
  }
}

}  // namespace

uint8_t* Exec::global(Address address, uint64_t size, const char* what) {
  uint8_t* p = memory.find(address, size);
  // The device would have faulted too, but for memory that exists there and was not recorded.
  constexpr uint64_t device_page = 2 << 20;
  if (p == nullptr && launch.recorded && memory.distance(address) >= device_page)
    unsupported(say<Phrase::global_not_recorded>(what, size, address));
  else if (p == nullptr)
    fault(Code::global_bounds, say<Phrase::outside_global>(what, size, memory.describe(address)),
          help_of(memory.where(address)));
  return p;
}

bool Exec::own(isa::Space stated, uint64_t address, const char* what) {
  const uint32_t rank = shared_address(address) >> cta_rank_shift;
  if (stated != isa::Space::shared_cta || rank == cta->rank || rank >= cluster.ctas.size()) return true;
  fault(Code::remote_as_own, say<Phrase::shared_of_another_cta>(
                                 what, shared_address(address) & shared_offset_mask, rank, cta->rank));
  return false;
}

uint8_t* Exec::resolve(isa::Space space, uint64_t address, uint64_t size, int lane, const char* what) {
  space = space_of(space, address);
  switch (space) {
    case isa::Space::shared_cta:
    case isa::Space::shared_cluster:
      if (!own(space, address, what)) return nullptr;
      return shared(address, size, what,
                    space == isa::Space::shared_cluster ? Code::cta_rank : Code::no_such_cta);
    case isa::Space::local:
    case isa::Space::param: {
      const uint64_t offset = local_offset(address);
      uint8_t* p = find_local(*this, lane, offset, size);
      if (p == nullptr)
        fault(Code::local_bounds,
              say<Phrase::outside_local>(what, size, offset,
                                         program.local_bytes + warp->stacks[static_cast<size_t>(lane)].used));
      return p;
    }
    default:
      return global(Address(address), size, what);
  }
}

const uint8_t* Exec::read(isa::Space space, uint64_t address, uint64_t size, int lane, const char* what,
                          uint8_t* copy) {
  const uint8_t* const bytes = resolve(space, address, size, lane, what);
  if (bytes == nullptr || space_of(space, address) != isa::Space::global) return bytes;
  return cluster.stores.visible(Address(address), bytes, size, copy);
}

bool Exec::write(isa::Space space, uint64_t address, const uint8_t* bytes, uint64_t size, int lane,
                 const char* what) {
  uint8_t* const to = resolve(space, address, size, lane, what);
  if (to == nullptr) return false;
  if (space_of(space, address) == isa::Space::global)
    store(Address(address), to, bytes, size);
  else
    std::memcpy(to, bytes, size);
  return true;
}

Origin Exec::origin(uint32_t lanes_named) const {
  return origin_at(program, CtaRank(cta->rank), WarpOfCta(warp->id), lanes_named, pc);
}

Step Exec::wait(Wait::Kind kind, uint64_t object, uint64_t value, bool read_only) {
  // Lanes of this group whose guard is false continue; the instruction does not wait for them.
  if (kind == Wait::Kind::convergence && (object & self().mask) != 0) return diverge(*this, active, pc);
  self().wait = {kind, read_only, object, value};
  return Step::block;
}

Site Exec::site() const { return site_at(program, pc, cta->id, warp->id, active); }

void Exec::report(Finding finding) {
  if (finding.sites.empty()) finding.sites.push_back(site());
  cluster.findings.push_back(std::move(finding));
}

Step Exec::fault(Code code, Statement message, Statement help) {
  if (!cluster.faulted) report(sim::fault(code, std::move(message), std::move(help)));
  cluster.faulted = true;
  return Step::fault;
}

Step Exec::unsupported(Statement what) {
  Finding f = sim::fault(Code::not_modelled, std::move(what), {}, FindingSeverity::unsupported);
  f.what = Unsupported{};
  report(std::move(f));
  cluster.faulted = true;
  return Step::fault;
}

AsyncOp& Exec::issue(AsyncPayloads payload, uint32_t lanes_issued, isa::AsyncGroup group_of) {
  AsyncOp& op = cluster.pending.emplace_back();
  op.id = cluster.next_async++;
  op.group = group_of;
  op.cta_rank = cta->rank;
  op.warp = warp->id;
  op.lanes = lanes_issued;
  op.pc = pc;
  op.payload = std::move(payload);
  if (group_of != isa::AsyncGroup::none) journal_issue(journal_of(*warp, group_of), op.id, lanes_issued);
  changed();
  return op;
}

// --- journals -------------------------------------------------------------------------------------
Journal& journal_of(WarpState& warp, isa::AsyncGroup group) {
  return group == isa::AsyncGroup::bulk    ? warp.bulk
         : group == isa::AsyncGroup::wgmma ? warp.wgmma
                                           : warp.cp_async;
}

void journal_issue(Journal& journal, uint64_t id, uint32_t lanes) {
  journal.push_back({.id = id, .lanes = lanes});
}

void journal_commit(Journal& journal, uint32_t lanes) {
  journal.push_back({.id = 0, .lanes = lanes, .commit = true, .read_done = true, .done = true});
}

void journal_mark(Journal& journal, uint64_t id, bool done) {
  for (JournalEntry& e : journal) {
    if (e.id != id || e.commit) continue;
    e.read_done = true;
    e.done |= done;
  }
}

bool journal_satisfied(const Journal& journal, uint32_t lanes, uint64_t allowed, bool read_only) {
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const uint32_t bit = m & (0 - m);
    // From the newest entry back: operations before a commit belong to its group, those after the
    // last commit to none. The `allowed` newest groups may be incomplete, all older ones not.
    uint64_t commits = 0;
    for (auto e = journal.rbegin(); e != journal.rend(); ++e) {
      if ((e->lanes & bit) == 0) continue;
      if (e->commit)
        ++commits;
      else if ((commits > allowed || allowed == every_product) && !(read_only ? e->read_done : e->done))
        return false;
    }
  }
  return true;
}

void journal_prune(Journal& journal) {
  // Entries that are done are removed from the front; a commit is removed once everything before it is.
  while (!journal.empty() && journal.front().done) journal.pop_front();
}

}  // namespace palladion::sim
