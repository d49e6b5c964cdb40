#include "sim/check/memory/tensor_memory.h"

#include <algorithm>
#include <bit>

#include "sim/machine/state/tensor_memory.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t column_bytes = TensorMemory::lanes * 4;

void mix(uint64_t& hash, uint64_t value) { hash = (hash ^ value) * 0x9E37'79B9'7F4A'7C15; }

}  // namespace

uint64_t pipeline_of(const AsyncIssue& e) {
  const auto* const mma = std::get_if<isa::Tcgen05Mma>(e.origin.effect);
  if (mma == nullptr) return 0;
  uint64_t hash = 1;
  mix(hash, static_cast<uint64_t>(mma->kind) << 2 | static_cast<uint64_t>(mma->ctas));
  mix(hash, static_cast<uint64_t>(mma->weight_stationary));
  for (const Piece& p : e.writes) mix(hash, p.address << 24 ^ p.bytes);
  return hash | 1;
}

TensorMemoryChecks::TensorMemoryChecks(const ClusterContext& context, HappensBefore& order,
                                       ConflictSink& sink, bool used)
    : context_(context), order_(order), detector_(pool_, records_, sink) {
  for (size_t i = 0; used && i < context.cluster.ctas.size(); ++i)
    cells_.emplace_back(TensorMemory::columns * column_bytes);
}

Actor TensorMemoryChecks::actor_of(const Origin& origin, const AsyncRecord* op, bool writes) const {
  const WarpOfCluster warp = order_.index(origin);
  Actor actor;
  actor.order = &order_;
  actor.view = &order_.view(warp, lowest_lane(origin.lanes));
  actor.cluster = context_.cluster.index;
  actor.warp = warp;
  actor.rank = origin.cta_rank;
  actor.lanes = origin.lanes;
  actor.visibility = op == nullptr ? Visibility::generic : Visibility::tensor;
  actor.async = op != nullptr;
  actor.async_id = op == nullptr ? 0 : op->id;
  actor.tensor = op;
  actor.reads = !writes;
  actor.writes = writes;
  return actor;
}

uint32_t TensorMemoryChecks::record(const Origin& origin, const std::shared_ptr<AsyncRecord>& op,
                                    bool writes) {
  if (records_.size() > collect_at_) collect_records();
  Record r;
  r.cluster = context_.cluster.index;
  r.pc = origin.pc;
  r.time = order_.time(order_.index(origin));
  r.lanes = origin.lanes;
  r.warp = order_.index(origin);
  r.flags = writes ? Record::writes : Record::reads;
  r.async = op;
  return records_.add(std::move(r));
}

void TensorMemoryChecks::collect_records() {
  records_.collect([&](auto&& visit) {
    for (SharedShadow& s : cells_) s.for_each_cell([&](Cell& c) { pool_.for_each_ref(c, visit); });
  });
  collect_at_ = std::max<size_t>(1U << 16, 2 * records_.size());
}

void TensorMemoryChecks::touch(const Piece& p) {
  SharedShadow& cells = cells_[p.address >> 24];
  const uint64_t begin = p.address & 0xFF'FFFF, rank = p.address - begin;
  if ((begin | p.bytes) % granule == 0) {
    detector_.touch_run(&cells.cell(begin), p.address, p.bytes / granule, every_lane << 5);
    return;
  }
  for_each_granule(begin, p.bytes, every_lane, Lane(0),
                   [&](uint64_t at, uint32_t first, uint32_t count, uint32_t pattern) {
                     detector_.touch(cells.cell(at), rank | at, first, count, pattern);
                   });
}

void TensorMemoryChecks::operate(const Origin& origin, const std::shared_ptr<AsyncRecord>& op,
                                 std::span<const Piece> pieces, bool writes) {
  if (std::ranges::none_of(pieces, [](const Piece& p) { return p.space == isa::Space::tensor; })) return;
  Actor actor = actor_of(origin, op.get(), writes);
  actor.record = record(origin, op, writes);
  detector_.begin(actor, false);
  for (const Piece& p : pieces)
    if (p.space == isa::Space::tensor) touch(p);
  detector_.end();
}

void TensorMemoryChecks::issued(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op) {
  operate(e.origin, op, e.reads, false);
  operate(e.origin, op, e.writes, true);
}

void TensorMemoryChecks::on(const TensorAccess& a) {
  std::vector<Piece> pieces;
  for (uint32_t c = a.column; c < a.column + a.columns; ++c)
    append(pieces, {isa::Space::tensor, tensor_byte(a.origin.cta_rank, a.lane, c), a.lanes * 4});
  operate(a.origin, order_.accessed(a), pieces, a.writes);
}

// A new allocation holds nothing; the columns of one that is freed must not be in use any more.
void TensorMemoryChecks::on(const TensorAllocated& e) {
  if (e.columns == 0) return;
  const Origin& origin = e.origin;
  if (e.freed) {
    Actor actor = actor_of(origin, nullptr, true);
    actor.record = record(origin, nullptr, true);
    detector_.begin(actor, true);
    touch({isa::Space::tensor, tensor_byte(origin.cta_rank, 0, e.column),
           e.columns * static_cast<uint32_t>(column_bytes)});
    detector_.end();
  }
  clear(origin.cta_rank, e.column, e.columns);
}

void TensorMemoryChecks::clear(CtaRank rank, uint32_t column, uint32_t columns) {
  for (uint64_t at = column * column_bytes; at < (column + columns) * column_bytes; at += granule)
    pool_.unite(cells_[rank].cell(at), 0);
}

}  // namespace palladion::sim::check
