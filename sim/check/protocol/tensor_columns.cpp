#include "sim/check/protocol/tensor_columns.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/formats/tensor_memory.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/program/program.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t bytes_of_column = TensorMemory::lanes * 4;
constexpr uint32_t columns_of_a = 8;  // of one product: 32 bytes of each row

int group_of(const isa::Effect& effect) {
  if (const auto* e = std::get_if<isa::Tcgen05Mma>(&effect)) return e->ctas;
  if (const auto* e = std::get_if<isa::TensorMemoryCopy>(&effect)) return e->ctas;
  if (const auto* e = std::get_if<isa::Tcgen05Commit>(&effect)) return e->ctas;
  return 0;
}

}  // namespace

Object TensorColumns::object(const Columns& columns) const {
  Object out{.kind = Object::Kind::tensor_memory, .ranges = {{columns.first, columns.end}}};
  if (p_.cluster().ctas.size() > 1) out.cta = p_.cluster().ctas[columns.rank].id;
  return out;
}

void TensorColumns::on(const TensorAllocated& e) {
  check_group(e.origin, e.ctas);
  if (e.columns == 0) return;
  e.freed ? release(e) : allocate(e);
}

void TensorColumns::allocate(const TensorAllocated& e) {
  const Origin& origin = e.origin;
  Cta& cta = ctas_[origin.cta_rank];
  check_growth(cta, e);
  cta.all.push_back({origin, e.column, e.columns, p_.now(origin), true, {}});
  for (uint32_t u = 0; u < e.columns / TensorMemory::unit; ++u)
    cta.owner[e.column / TensorMemory::unit + u] = static_cast<uint32_t>(cta.all.size());
}

void TensorColumns::release(const TensorAllocated& e) {
  Cta& cta = ctas_[e.origin.cta_rank];
  if (e.ctas == 2) check_peer(e.origin);
  const uint32_t owner = cta.owner[e.column / TensorMemory::unit];
  if (owner == 0) return;
  cta.all[owner - 1].live = false;
  cta.all[owner - 1].freed = e.origin;
}

// "The size of an allocation should not increase between any two allocations."
void TensorColumns::check_growth(const Cta& cta, const TensorAllocated& e) {
  const auto smaller =
      std::ranges::find_if(cta.all, [&](const Allocation& a) { return a.columns < e.columns; });
  if (smaller == cta.all.end()) return;
  const FindingKey key{Code::growing_tensor_allocation, e.origin.pc, smaller->origin.pc, 0};
  if (p_.reporter().seen(key, e.origin)) return;
  Finding f;
  f.message = say<Phrase::growing_allocation>(e.columns, smaller->columns);
  f.object = object({e.origin.cta_rank, e.column, e.column + e.columns});
  f.sites = {p_.reporter().site(e.origin, Does::allocates),
             p_.reporter().site(smaller->origin, Part{.does = Does::allocates, .earlier = true})};
  f.missing = say<Phrase::allocations_do_not_grow>();
  p_.reporter().report(key, std::move(f));
}

// The pair frees together: this CTA must know that its peer has started and allocated.
void TensorColumns::check_peer(const Origin& origin) {
  const uint32_t peer = origin.cta_rank ^ 1U;
  const WarpOfCluster warp = p_.causality.index(origin);
  if (peer >= ctas_.size()) return;
  const auto& theirs = ctas_[peer].all;
  const bool known =
      std::ranges::any_of(theirs, [&](const Allocation& a) { return p_.causality.knows(warp, a.point); });
  if (known) return;
  const FindingKey key{Code::unordered_pair_dealloc, origin.pc, ~0U, 0};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::dealloc_before_peer>();
  f.object = {.kind = Object::Kind::tensor_memory, .cta = p_.cluster().ctas[peer].id};
  f.sites = {p_.reporter().site(origin, Does::frees)};
  if (!theirs.empty()) f.sites.push_back(p_.reporter().site(theirs.front().origin, Does::allocates));
  f.missing = say<Phrase::no_barrier_after_peer_alloc>();
  p_.reporter().report(key, std::move(f));
}

void TensorColumns::check_group(const Origin& origin, int ctas) {
  if (ctas == 0 || ctas == group_) return;
  if (group_ == 0) {
    group_ = ctas;
    first_group_ = origin;
    return;
  }
  const FindingKey key{Code::mixed_cta_groups, origin.pc, first_group_.pc, 0};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::mixed_groups>(ctas, group_);
  f.object.kind = Object::Kind::kernel;
  f.object.names = {{.name = p_.context.run.program->entry->name}};
  f.sites = {
      p_.reporter().site(origin, Part{.does = Does::has_cta_group, .number = static_cast<uint64_t>(ctas)}),
      p_.reporter().site(
          first_group_,
          Part{.does = Does::has_cta_group, .earlier = true, .number = static_cast<uint64_t>(group_)})};
  f.missing = say<Phrase::one_cta_group>();
  p_.reporter().report(key, std::move(f));
}

// --- uses -------------------------------------------------------------------------------------------------
void TensorColumns::on(const TensorAccess& a) {
  check_lanes(a);
  use(a.origin, {a.origin.cta_rank, a.column, a.column + a.columns});
}

// The lane in the address of a tcgen05.ld or tcgen05.st that is being executed.
uint32_t TensorColumns::stated_lane(const Origin& origin) const {
  const Program& program = *p_.context.run.program;
  const auto* load = std::get_if<isa::TensorMemoryLoad>(origin.effect);
  const int address =
      load != nullptr ? load->address : std::get<isa::TensorMemoryStore>(*origin.effect).address;
  const DecodedOperand& o = program.code[origin.pc].operands[address];
  const WarpState& warp = p_.cluster().ctas[origin.cta_rank].warps[origin.warp];
  const uint8_t* const lanes = o.slot.constant ? program.constants.data() : warp.registers.data();
  uint32_t base;
  std::memcpy(&base, lanes + o.slot.offset + 4 * std::countr_zero(origin.lanes), sizeof base);
  return static_cast<uint32_t>(isa::tensor_place(base + static_cast<uint32_t>(o.offset)).lane);
}

void TensorColumns::check_lanes(const TensorAccess& a) {
  const uint32_t stated = stated_lane(a.origin);
  if (stated == a.lane) return;
  const FindingKey key{Code::lanes_out_of_reach, a.origin.pc, ~0U, 2};
  if (p_.reporter().seen(key, a.origin)) return;
  Finding f;
  f.severity = FindingSeverity::strict;
  f.message = say<Phrase::lanes_not_stated>(stated, a.lane);
  f.object = object({a.origin.cta_rank, a.column, a.column + a.columns});
  f.sites = {p_.reporter().site(a.origin, Does::uses)};
  f.missing = say<Phrase::lanes_in_address>();
  p_.reporter().report(key, std::move(f));
}

void TensorColumns::on(const ArrivalDeferred& e) { check_group(e.origin, group_of(*e.origin.effect)); }

void TensorColumns::on(const AsyncIssue& e) {
  if (e.family != isa::AsyncFamily::tcgen05) return;
  check_group(e.origin, group_of(*e.origin.effect));
  std::vector<Columns> used = operands_of(e.writes, {});
  const auto* const mma = std::get_if<isa::Tcgen05Mma>(e.origin.effect);
  if (mma != nullptr && mma->a_tmem >= 0) std::ranges::copy(left_operands(e.reads), std::back_inserter(used));
  std::ranges::copy(operands_of(e.reads, used), std::back_inserter(used));
  for (const Columns& columns : used) use(e.origin, columns);
}

TensorColumns::Columns TensorColumns::columns_of(const Piece& p) {
  const uint64_t offset = p.address & 0xFF'FFFF;
  return {static_cast<uint32_t>(p.address >> 24), static_cast<uint32_t>(offset / bytes_of_column),
          static_cast<uint32_t>((offset + p.bytes - 1) / bytes_of_column + 1)};
}

// A of a product, in each CTA: its reads begin with it.
std::vector<TensorColumns::Columns> TensorColumns::left_operands(std::span<const Piece> reads) {
  std::vector<Columns> out;
  for (const Piece& p : reads) {
    if (p.space != isa::Space::tensor) continue;
    const Columns c = columns_of(p);
    if (std::ranges::find(out, c.rank, &Columns::rank) == out.end())
      out.push_back({c.rank, c.first, c.first + columns_of_a});
  }
  return out;
}

// The columns of each operand but those. Operands may lie side by side, in columns of several allocations:
// one of all lanes is one piece; what has a piece for each column and some lanes is one operand.
std::vector<TensorColumns::Columns> TensorColumns::operands_of(std::span<const Piece> pieces,
                                                               std::span<const Columns> but) {
  std::vector<Columns> out;
  bool open = false;
  for (const Piece& p : pieces) {
    if (p.space != isa::Space::tensor) continue;
    const Columns c = columns_of(p);
    if (std::ranges::any_of(but, [&](const Columns& b) { return b.has(c); })) continue;
    const bool of_all_lanes = p.bytes >= bytes_of_column;
    if (open && !of_all_lanes && out.back().touches(c))
      out.back() = {c.rank, std::min(out.back().first, c.first), std::max(out.back().end, c.end)};
    else
      out.push_back(c);
    open = !of_all_lanes;
  }
  return out;
}

void TensorColumns::use(const Origin& origin, const Columns& columns) {
  const Cta& cta = ctas_[columns.rank];
  const uint32_t owner = cta.owner[columns.first / TensorMemory::unit];
  const Allocation* const mine = owner == 0 ? nullptr : &cta.all[owner - 1];
  const bool inside = mine != nullptr && mine->live && columns.end <= mine->column + mine->columns;
  if (!inside) report_use(origin, columns, mine);
}

// `mine`: the last allocation that had the first of the columns; null: none ever.
void TensorColumns::report_use(const Origin& origin, const Columns& columns, const Allocation* mine) {
  const Code code = mine == nullptr ? Code::unallocated_columns
                    : mine->live    ? Code::access_beyond_tensor_allocation
                                    : Code::tensor_memory_freed_in_use;
  const FindingKey key{code, origin.pc, mine == nullptr ? ~0U : mine->origin.pc, 2};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.object = object(columns);
  f.sites = {p_.reporter().site(origin, Does::uses)};
  if (mine == nullptr) {
    f.message = say<Phrase::columns_not_allocated>();
    f.missing = say<Phrase::alloc_of_columns>();
  } else if (!mine->live) {
    f.message = say<Phrase::columns_freed>();
    f.sites.push_back(p_.reporter().site(mine->freed, Does::frees));
    f.missing = say<Phrase::access_after_dealloc>();
  } else {
    f.message =
        say<Phrase::columns_beyond_allocation>(columns.first, columns.end, mine->column + mine->columns);
    f.sites.push_back(p_.reporter().site(mine->origin, Does::allocates));
    f.missing = say<Phrase::columns_of_another>();
  }
  p_.reporter().report(key, std::move(f));
}

// --- the end ----------------------------------------------------------------------------------------------
void TensorColumns::on(const Exited& event) {
  const Origin& origin = event.origin;
  if (!p_.exited(origin.cta_rank)) return;
  for (const Allocation& a : ctas_[origin.cta_rank].all) {
    if (!a.live) continue;
    const FindingKey key{Code::tensor_memory_leak, a.origin.pc, origin.pc, 0};
    if (p_.reporter().seen(key, a.origin)) continue;
    Finding f;
    f.message = say<Phrase::columns_left>(a.columns);
    f.object = object({origin.cta_rank, a.column, a.column + a.columns});
    f.sites = {p_.reporter().site(a.origin, Does::allocates), p_.reporter().site(origin, Does::exits)};
    f.missing = say<Phrase::dealloc_before_end>();
    p_.reporter().report(key, std::move(f));
  }
}

}  // namespace palladion::sim::check
