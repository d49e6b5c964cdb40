#include "sim/explore/work_dependence.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/explore/cluster_work.h"

namespace palladion::sim::check {
namespace {

// Printing and assertions aside, what the system gives a CTA depends on others.
bool is_system_call(const Program& program, const MicroOp& op) {
  if (op.instruction == nullptr || program.footprint(op).next != isa::Control::calls) return false;
  return std::ranges::any_of(op.instruction->operands, [&](const isa::Operand& o) {
    if (!o.is(isa::Operand::Kind::symbol)) return false;
    const auto f = std::ranges::find(program.module->functions, o.id, &isa::Function::symbol);
    return f != program.module->functions.end() && !f->defined && f->name != "vprintf" &&
           f->name != "__assertfail";
  });
}

// Textures and surfaces are not watched.
bool uses_texels(const Program& program, const MicroOp& op) {
  return std::ranges::any_of(program.footprint(op).memory,
                             [](const isa::MemoryUse& m) { return m.content == isa::Content::texels; });
}

}  // namespace

WorkObserver::WorkObserver() = default;
WorkObserver::~WorkObserver() = default;

void WorkObserver::start(const RunView& run) {
  run_ = run;
  slice_ = DataSlice(*run.program, Sources::work);
  clusters_.clear();
  read_.clear();
  written_.clear();
  scope_ = {};
  for (const MicroOp& op : run.program->code) {
    if (is_system_call(*run.program, op)) scope_.obstacle = "the system is called";
    if (uses_texels(*run.program, op)) scope_.obstacle = "textures or surfaces are used";
  }
}

bool WorkObserver::watches(Pc pc) const {
  const MicroOp& op = run_.program->code[pc];
  return slice_.watches(pc) || (op.effect != nullptr && std::holds_alternative<isa::QueryCancel>(*op.effect));
}

void WorkObserver::observe(ClusterState& cluster, ClusterEvents& events) {
  events.add(clusters_.add(cluster, std::make_unique<ClusterWork>(run_, slice_, cluster)));
}

void WorkObserver::retire(ClusterState& cluster) {
  const auto part = clusters_.take(cluster);
  if (part == nullptr) return;
  if (scope_.obstacle.empty()) scope_.obstacle = part->obstacle();
  scope_.lengths.insert(part->work().size());
  for (const auto& [number, work] : part->work())
    if (!scope_.work.emplace(number, work).second && scope_.obstacle.empty())
      scope_.obstacle = "two clusters did the work of one";
  read_.insert(part->read().begin(), part->read().end());
  for (const ClusterWork::Range& range : part->written()) wrote(range.address, range.bytes, range.line);
}

void WorkObserver::wrote(uint64_t address, uint64_t bytes, uint32_t line) {
  while (bytes != 0) {
    const Allocation* const a = run_.memory->lookup(Address(address));
    const uint64_t base = a == nullptr ? address : uint64_t{a->base}, size = a == nullptr ? bytes : a->size;
    std::vector<bool>& array = written_[base];
    array.resize(size);
    for (; bytes != 0 && address - base < size; ++address, --bytes) {
      if (array[address - base] && scope_.obstacle.empty())
        scope_.obstacle = fmt::format("line {}: a byte of GMEM is written more than once", line);
      array[address - base] = true;
    }
  }
}

void WorkObserver::finish(std::vector<Finding>&) {
  const bool read = std::ranges::any_of(read_, [&](uint64_t array) { return written_.contains(array); });
  if (read && scope_.obstacle.empty()) scope_.obstacle = "an array is written and read";
}

}  // namespace palladion::sim::check
