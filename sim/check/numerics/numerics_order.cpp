#include "sim/check/numerics/numerics_order.h"

#include <algorithm>
#include <vector>

#include "isa/formats/tensor_map.h"
#include "sim/check/registers/watch.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t granule_of_copies = 16;  // bytes by which reductions of copies are judged

bool adds_floats(const isa::Effect& effect) {
  if (const auto* a = std::get_if<isa::Atomic>(&effect))
    return a->op == isa::AtomicOp::add && is_float(a->type);
  if (const auto* b = std::get_if<isa::BulkCopy>(&effect))
    return b->op == isa::BulkOp::add && is_float(b->type);
  return false;
}

// A tensor copy's element type is in its tensor map.
bool tensor_of_floats(const ClusterContext& context, uint64_t map) {
  uint8_t copy[isa::tensor_map_bytes];
  const uint8_t* bytes = seen(*context.run.memory, context.cluster.stores, Address(map), sizeof copy, copy);
  if (bytes == nullptr) return false;
  const auto decoded = isa::decode_tensor_map(std::span<const std::byte, isa::tensor_map_bytes>(
      reinterpret_cast<const std::byte*>(bytes), isa::tensor_map_bytes));
  return decoded && is_float(decoded->data_type);
}

bool in_shared_window(uint64_t address) { return is_shared(space_of(address)); }

}  // namespace

void OrderedSums::on(const Access& a) {
  const Origin& origin = a.origin;
  if (a.kind != Access::Kind::atomic || !adds_floats(*origin.effect) || reported_.contains(origin.pc)) return;
  uint64_t mine[32];
  size_t count = 0;
  for (Lane lane{0}; lane < 32; ++lane)
    if ((a.lanes >> lane & 1) != 0)
      mine[count++] = is_shared(a.space) ? shared_window | a.addresses[lane] : a.addresses[lane];
  for (size_t i = 0; i < count; ++i) add(origin, mine[i]);
}

void OrderedSums::on(const AsyncIssue& e) {
  const Origin& origin = e.origin;
  if (!e.reduces || reported_.contains(origin.pc)) return;
  const auto* tensor = std::get_if<isa::TensorCopy>(origin.effect);
  const bool floats = tensor != nullptr
                          ? tensor->op == isa::BulkOp::add && tensor_of_floats(context_, e.tensor_map)
                          : adds_floats(*origin.effect);
  if (!floats) return;
  for (const Piece& p : e.writes)
    for (uint64_t at = p.address / granule_of_copies * granule_of_copies; at < p.address + p.bytes;
         at += granule_of_copies)
      add(origin, p.shared() ? shared_window | at : at);
}

void OrderedSums::add(const Origin& origin, uint64_t address) {
  if (adders_.size() >= limit) return;
  const auto [at, fresh] = adders_.try_emplace(address, Adder{origin.pc, origin.cta_rank, origin.warp});
  const Adder& first = at->second;
  if (fresh || (first.cta_rank == origin.cta_rank && first.warp == origin.warp) ||
      reported_.contains(origin.pc))
    return;
  report(origin, context_.reporter.site(origin_of(first), Does::adds), address);
}

Origin OrderedSums::origin_of(const Adder& a) const {
  return origin_at(*context_.run.program, a.cta_rank, a.warp, ~0U, a.pc);
}

Object OrderedSums::object(const Origin& origin, uint64_t address) const {
  const isa::MemoryUse* const sum = context_.run.program->footprints[origin.pc].written();
  const uint64_t bytes = sum != nullptr && sum->bytes != 0 ? sum->bytes : granule_of_copies;
  return in_shared_window(address)
             ? shared_object(context_.run, context_.cluster, SharedAddress(address), bytes)
             : global_object(context_.run, address, bytes);
}

void OrderedSums::report(const Origin& origin, Site other, uint64_t address) {
  reported_.insert(origin.pc);
  const FindingKey key{Code::order_dependent_sum, origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::sum_depends_on_order>();
  f.sites.push_back(context_.reporter.site(origin, Does::adds));
  f.sites.push_back(std::move(other));
  f.object = object(origin, address);
  f.missing = say<Phrase::no_order_of_additions>();
  context_.reporter.report(key, std::move(f));
}

// Clusters retire in a fixed order, so the findings are the same for every number of host threads.
void SumsOfRun::merge(OrderedSums& sums) {
  reported_.insert(sums.reported_.begin(), sums.reported_.end());
  std::vector<std::pair<uint64_t, OrderedSums::Adder>> mine(sums.adders_.begin(), sums.adders_.end());
  std::ranges::sort(mine, {}, [](const auto& m) { return m.first; });
  sums.adders_.clear();
  std::map<uint32_t, size_t> site_of_pc;
  for (const auto& [address, adder] : mine) {
    if (in_shared_window(address) || reported_.contains(adder.pc)) continue;
    const auto known = sites_of_.find(address);
    if (known != sites_of_.end()) {
      sums.report(sums.origin_of(adder), sites_[known->second], address);
      reported_.insert(adder.pc);
      continue;
    }
    if (sites_of_.size() >= OrderedSums::limit) continue;
    const auto [at, fresh] = site_of_pc.try_emplace(adder.pc, sites_.size());
    if (fresh) sites_.push_back(sums.context_.reporter.site(sums.origin_of(adder), Does::adds));
    sites_of_.emplace(address, at->second);
  }
}

}  // namespace palladion::sim::check
