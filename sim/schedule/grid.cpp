#include "sim/schedule/grid.h"

#include <algorithm>
#include <numeric>

#include "sim/schedule/deadlock.h"
#include "sim/schedule/results.h"

namespace palladion::sim {
namespace {

unsigned host_threads(const RunOptions& options, uint64_t slots) {
  const unsigned all = options.threads != 0 ? options.threads : hardware_threads();
  return static_cast<unsigned>(std::min<uint64_t>(all, slots));
}

}  // namespace

Grid::Grid(const RunContext& context, const RunOptions& options, uint64_t clusters, uint64_t slots,
           RunResult result)
    : context_(context),
      options_(options),
      clusters_(clusters),
      workers_(host_threads(options, std::min(slots, clusters))) {
  state.slots.resize(std::min(slots, clusters));
  state.free.resize(state.slots.size());
  std::iota(state.free.rbegin(), state.free.rend(), 0U);
  state.result = std::move(result);
}

// The cluster that is the n-th to start.
uint64_t Grid::index_of(uint64_t n) {
  if (options_.order.kind == StartOrder::Kind::ascending) return n;
  if (options_.order.kind == StartOrder::Kind::descending) return clusters_ - 1 - n;
  if (order_.empty()) {
    order_.resize(clusters_);
    std::iota(order_.begin(), order_.end(), 0U);
    for (uint64_t i = clusters_ - 1; i > 0; --i)
      std::swap(order_[i], order_[scramble(scramble(options_.order.seed) + i) % (i + 1)]);
  }
  return order_[n];
}

ClusterState& Grid::admit() {
  const uint32_t slot = state.free.back();
  state.free.pop_back();
  state.resident.push_back(slot);
  ClusterState& cluster = state.slots[slot];
  cluster.index = ClusterOfGrid(index_of(state.started++));
  cluster.stores.delays = state.slots.size() > 1;
  resident_.push_back(&cluster);
  return cluster;
}

std::optional<uint32_t> Grid::take() {
  const uint64_t run = state.started - state.taken;
  if (!more_clusters() || state.taken >= uint64_t{options_.cancels} * run) return std::nullopt;
  ++state.taken;
  return static_cast<uint32_t>(index_of(state.started++));
}

void Grid::take_findings(ClusterState& cluster) {
  state.faulted |= sim::take_findings(cluster, state.result);
}

void Grid::collect(ClusterState& cluster) {
  if (context_.run_of(cluster).events != nullptr) {
    options_.observer->retire(cluster);
    context_.events[cluster.index] = nullptr;
  }
  state.progress += cluster.progress;
  state.faulted |= take_results(cluster, state.result);
}

void Grid::leave(ClusterState& cluster) {
  if (cluster.finished()) {
    state.result.ctas += cluster.ctas.size();
    ++state.finished;
  }
  collect(cluster);
  const auto slot = static_cast<uint32_t>(&cluster - state.slots.data());
  StoreBuffer stores = std::move(cluster.stores);  // its memory is for the next cluster of the slot
  cluster = {};
  cluster.stores = std::move(stores);
  std::erase(state.resident, slot);
  std::erase(resident_, &cluster);
  state.free.push_back(slot);
}

void Grid::destroy_retired() {
  if (options_.observer == nullptr) return;
  auto retired = options_.observer->take_retired();
  workers_.for_each(retired.size(), [&](size_t i, unsigned) { retired[i].reset(); });
}

void Grid::perform_stores() {
  constexpr size_t worth_threads = 256;  // chunks
  size_t chunks = 0;
  for (const ClusterState* c : resident_) chunks += c->stores.chunks();
  const size_t parts = chunks < worth_threads ? std::min<size_t>(chunks, 1) : workers_.workers();
  workers_.for_each(parts, [&](size_t part, unsigned) {
    for (const ClusterState* c : resident_)
      for (size_t i = 0; i < c->stores.chunks(); ++i)
        if (c->stores.key(i) / StoreBuffer::chunk_bytes % parts == part) c->stores.perform(i);
  });
  for (ClusterState* c : resident_) c->stores.clear();
}

void Grid::notify_boundary() {
  if (options_.observer != nullptr) options_.observer->at_quantum_boundary(resident_);
}

uint64_t Grid::instructions() const {
  uint64_t sum = state.result.instructions;
  for (const ClusterState* c : resident_) sum += c->instructions;
  return sum;
}

uint64_t Grid::progress() const {
  uint64_t sum = state.progress;
  for (const ClusterState* c : resident_) sum += c->progress;
  return sum;
}

uint64_t Grid::inner_changes() const {
  uint64_t sum = 0;
  for (const ClusterState* c : resident_) sum += c->inner_changes;
  return sum;
}

bool Grid::over_limit() {
  const uint64_t limit = options_.max_instructions;
  if (limit == 0) return false;
  const uint64_t done = instructions();
  if (done <= limit) return false;
  state.result.findings.push_back(given_up(done));
  return true;
}

bool Grid::loops_for_ever() {
  if (options_.max_warp_instructions == 0) return false;
  auto finding = find_endless_loop(context_, resident_, state.endless, instructions(), progress(),
                                   options_.max_warp_instructions);
  if (!finding) return false;
  state.result.findings.push_back(std::move(*finding));
  return true;
}

bool Grid::advance(Advance& how) { return advance(how, false); }

bool Grid::advance_or_wait(Advance& how) {
  if (waits) how.memory_changed();
  waits = false;
  return advance(how, true);
}

bool Grid::advance(Advance& how, bool may_wait) {
  if (state.over) return false;
  how.admit(*this);
  if (resident_.empty()) {
    finish(how);
    return false;
  }
  how.run(*this);
  const uint64_t done = clusters_done();
  how.retire(*this);
  destroy_retired();
  ++state.boundaries;
  if (options_.progress && clusters_done() != done) options_.progress(clusters_done(), clusters_);
  if (options_.stop != nullptr && options_.stop->load()) {
    state.result.interrupted = true;
    state.over = true;
  } else if (!state.faulted && how.stuck(*this)) {
    waits = may_wait && some_spin(resident_);
    if (waits) return true;
    report_deadlock(context_.program, context_.memory, resident_, more_clusters(), options_.observer,
                    state.result);
    state.over = true;
  } else {
    state.over = over_limit() || state.faulted || loops_for_ever();
  }
  if (state.over) finish(how);
  return !state.over;
}

void Grid::finish(Advance& how) {
  for (ClusterState* c : resident_) collect(*c);
  destroy_retired();
  state.over = true;
  state.result.completed = clusters_done() == clusters_;
  how.finish(*this);
  if (options_.observer != nullptr) options_.observer->finish(state.result.findings);
  for (Finding& f : state.result.findings) f.kernel = context_.program.entry->name;
}

// Clusters are copied into their slots, which stay where they are.
void Grid::restore(const GridState& saved) {
  state = saved;
  resident_.clear();
  for (const uint32_t slot : state.resident) resident_.push_back(&state.slots[slot]);
}

}  // namespace palladion::sim
