#include "sim/check/protocol/tensor_columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::sim::check {
namespace {

constexpr uint64_t bytes_of_column = TensorMemory::lanes * 4;

int group_of(const isa::Effect& effect) {
  if (const auto* e = std::get_if<isa::Tcgen05Mma>(&effect)) return e->ctas;
  if (const auto* e = std::get_if<isa::TensorMemoryCopy>(&effect)) return e->ctas;
  if (const auto* e = std::get_if<isa::Tcgen05Commit>(&effect)) return e->ctas;
  return 0;
}

}  // namespace

std::string TensorColumns::name(const Range& range) const {
  std::string out = fmt::format("tensor memory columns [{}, {})", range.first, range.end);
  if (p_.cluster().ctas.size() == 1) return out;
  const isa::Dim3& id = p_.cluster().ctas[range.rank].id;
  return out + fmt::format(" of CTA ({},{},{})", id.x, id.y, id.z);
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
  if (p_.reporter().seen(key)) return;
  Finding f;
  f.message = fmt::format("an allocation of {} columns after one of {}", e.columns, smaller->columns);
  f.object = name({e.origin.cta_rank, e.column, e.column + e.columns});
  f.sites = {p_.reporter().site(e.origin, "allocates more"),
             p_.reporter().site(smaller->origin, "allocates less (earlier)")};
  f.missing = "allocations of a CTA must not grow";
  p_.reporter().report(key, std::move(f));
}

// The pair frees together: this CTA must know that its peer has started and allocated.
void TensorColumns::check_peer(const Origin& origin) {
  const uint32_t peer = origin.cta_rank ^ 1U, warp = p_.causality.index(origin);
  if (peer >= ctas_.size()) return;
  const auto& theirs = ctas_[peer].all;
  const bool known =
      std::ranges::any_of(theirs, [&](const Allocation& a) { return p_.causality.knows(warp, a.point); });
  if (known) return;
  const FindingKey key{Code::unordered_pair_dealloc, origin.pc, ~0U, 0};
  if (p_.reporter().seen(key)) return;
  Finding f;
  f.message = "tcgen05.dealloc.cta_group::2 before the peer is known to have allocated";
  f.object = fmt::format("tensor memory of the pair of CTA ranks {} and {}", origin.cta_rank & ~1U,
                         origin.cta_rank | 1U);
  f.sites = {p_.reporter().site(origin, "frees for the pair")};
  if (!theirs.empty()) f.sites.push_back(p_.reporter().site(theirs.front().origin, "the peer's allocation"));
  f.missing = "no barrier of the cluster lies between the peer's tcgen05.alloc and this tcgen05.dealloc";
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
  if (p_.reporter().seen(key)) return;
  Finding f;
  f.message =
      fmt::format("an instruction with .cta_group::{} in a kernel that uses .cta_group::{}", ctas, group_);
  f.object = "tcgen05 instructions of the kernel";
  f.sites = {p_.reporter().site(origin, fmt::format("cta_group::{}", ctas)),
             p_.reporter().site(first_group_, fmt::format("cta_group::{} (the first)", group_))};
  f.missing = "one .cta_group for all of them";
  p_.reporter().report(key, std::move(f));
}

// --- uses -------------------------------------------------------------------------------------------------
void TensorColumns::on(const TensorAccess& a) {
  use(a.origin, {a.origin.cta_rank, a.column, a.column + a.columns});
}

void TensorColumns::on(const ArrivalDeferred& e) { check_group(e.origin, group_of(*e.origin.effect)); }

void TensorColumns::on(const AsyncIssue& e) {
  if (e.family != isa::AsyncFamily::tcgen05) return;
  check_group(e.origin, group_of(*e.origin.effect));
  for (const auto pieces : {e.reads, e.writes}) {
    Range range;
    for (const Piece& p : pieces) {
      if (p.space != isa::Space::tensor) continue;
      const auto rank = static_cast<uint32_t>(p.address >> 24);
      const uint64_t offset = p.address & 0xFF'FFFF;
      const auto first = static_cast<uint32_t>(offset / bytes_of_column),
                 end = static_cast<uint32_t>((offset + p.bytes - 1) / bytes_of_column + 1);
      const bool follows = range.rank == rank && first <= range.end && end >= range.first && range.end != 0;
      if (!follows && range.end != 0) use(e.origin, range);
      range = follows ? Range{rank, std::min(range.first, first), std::max(range.end, end)}
                      : Range{rank, first, end};
    }
    if (range.end != 0) use(e.origin, range);
  }
}

void TensorColumns::use(const Origin& origin, const Range& range) {
  const Cta& cta = ctas_[range.rank];
  const uint32_t owner = cta.owner[range.first / TensorMemory::unit];
  const Allocation* const mine = owner == 0 ? nullptr : &cta.all[owner - 1];
  const bool inside = mine != nullptr && mine->live && range.end <= mine->column + mine->columns;
  if (!inside) report_use(origin, range, mine);
}

// `mine`: the last allocation that had the first of the columns; null: none ever.
void TensorColumns::report_use(const Origin& origin, const Range& range, const Allocation* mine) {
  const Code code = mine == nullptr ? Code::unallocated_columns
                    : mine->live    ? Code::access_beyond_tensor_allocation
                                    : Code::tensor_memory_freed_in_use;
  const FindingKey key{code, origin.pc, mine == nullptr ? ~0U : mine->origin.pc, 2};
  if (p_.reporter().seen(key)) return;
  Finding f;
  f.object = name(range);
  f.sites = {p_.reporter().site(origin, "uses them")};
  if (mine == nullptr) {
    f.message = "an access of columns that the CTA has not allocated";
    f.missing = "a tcgen05.alloc of these columns";
  } else if (!mine->live) {
    f.message = "an access of columns that have been freed";
    f.sites.push_back(p_.reporter().site(mine->freed, "freed them"));
    f.missing = "the access does not come before the tcgen05.dealloc";
  } else {
    f.message = fmt::format("an access of columns [{}, {}) begins in an allocation that ends at column {}",
                            range.first, range.end, mine->column + mine->columns);
    f.sites.push_back(p_.reporter().site(mine->origin, "allocated the first of them"));
    f.missing = "the columns behind the allocation belong to another one, or to none";
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
    if (p_.reporter().seen(key)) continue;
    Finding f;
    f.message = fmt::format("a CTA ends with {} columns of tensor memory allocated", a.columns);
    f.object = name({origin.cta_rank, a.column, a.column + a.columns});
    f.sites = {p_.reporter().site(a.origin, "allocates"),
               p_.reporter().site(origin, "the last thread exits")};
    f.missing = "a tcgen05.dealloc on the way to the end";
    p_.reporter().report(key, std::move(f));
  }
}

}  // namespace palladion::sim::check
