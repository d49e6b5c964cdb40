#include "sim/sass/price.h"

#include <unordered_map>
#include <utility>

#include "isa/core/op.h"
#include "sim/sass/boards.h"
#include "sim/sass/constants.h"
#include "sim/sass/fold.h"
#include "sim/sass/gather.h"

namespace palladion::sim::hardware {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

bool is_global(isa::Space s) { return s == isa::Space::global || s == isa::Space::generic; }

// Memory instructions: which way they go, where their address stands, how many bytes a lane moves.
struct Reach {
  Path path = Path::plain;
  int address = -1;
  uint32_t bytes = 0;
  isa::Space space = isa::Space::generic;
  uint32_t lanes = ~0U;
  bool takes_turns = false, holds = false, rows = false, atomic = false;
};

// Eight lanes give the rows of a matrix.
uint32_t matrix_lanes(int count) { return count >= 4 ? ~0U : (1U << 8 * count) - 1; }

uint32_t bytes_of(isa::Type type, int elements) { return static_cast<uint32_t>(isa::bytes(type) * elements); }

// An access takes the way of its space.
struct Ways {
  Path shared, cluster, global, other = Path::plain;
  Path of(isa::Space s) const {
    return s == isa::Space::shared_cta       ? shared
           : s == isa::Space::shared_cluster ? cluster
           : is_global(s)                    ? global
                                             : other;
  }
};
constexpr Ways loads{Path::shared_load, Path::cluster_load, Path::global_load};
constexpr Ways stores{Path::shared_store, Path::cluster_store, Path::global_store};

template <class Access>
Reach reach(const Access& e, Path path) {
  return {path, e.address, bytes_of(e.type, e.elements), e.space};
}

Reach rows(Path path, int address, int count) {
  return {path, address, 16, isa::Space::shared_cta, matrix_lanes(count), false, false, true};
}

Reach atomic(const isa::Atomic& e) {
  const bool returns = e.dst >= 0;
  Reach r = reach(e, is_shared(e.space) ? (returns ? loads : stores).of(e.space) : Path::global_atomic);
  r.takes_turns = r.atomic = true;
  return r;
}

Reach reach_of(const isa::Effect& effect) {
  const auto waits = [](auto&&) { return Reach{.path = Path::waits}; };
  return std::visit(
      Overloaded{
          [](const isa::Load& e) { return reach(e, loads.of(e.space)); },
          [](const isa::Store& e) { return reach(e, stores.of(e.space)); },
          [](const isa::Atomic& e) { return atomic(e); },
          [](const isa::LoadMatrix& e) { return rows(Path::shared_load, e.address, e.count); },
          [](const isa::StoreMatrix& e) { return rows(Path::shared_store, e.address, e.count); },
          [](const isa::CpAsync&) { return Reach{.path = Path::async}; },
          [](const isa::BulkCopy&) { return Reach{.path = Path::async}; },
          [](const isa::TensorCopy&) { return Reach{.path = Path::async}; },
          [](const isa::StoreAsync& e) {
            return Reach{Path::async, e.address, bytes_of(e.type, e.elements), isa::Space::shared_cluster};
          },
          [](const isa::ReduceAsync& e) {
            return Reach{.path = Path::async,
                         .address = e.address,
                         .bytes = bytes_of(e.type, 1),
                         .space = isa::Space::shared_cluster,
                         .atomic = true};
          },
          [](const isa::CpAsyncMbarrierArrive&) { return Reach{.path = Path::async}; },
          [](const isa::Wgmma&) { return Reach{.path = Path::async}; },
          [](const isa::Fence&) { return Reach{.path = Path::fence}; },
          [](const isa::Exit&) { return Reach{.path = Path::exit}; },
          [](const isa::Return&) { return Reach{.path = Path::exit}; },
          [&](const isa::CtaBarrier& e) { return waits(e); },
          [&](const isa::ClusterBarrier& e) { return waits(e); },
          [](const isa::Mbarrier& e) {
            using A = isa::MbarrierAction;
            Reach r{.path = Path::waits, .holds = e.action != A::test_wait && e.action != A::try_wait};
            if (r.holds && e.space == isa::Space::shared_cluster) r.address = e.address;
            return r;
          },
          [&](const isa::CpAsyncWait& e) { return waits(e); },
          [&](const isa::BulkWait& e) { return waits(e); },
          [&](const isa::WgmmaWait& e) { return waits(e); },
          [&](const isa::SetMaxRegisters& e) { return waits(e); },
          [](const auto&) { return Reach{}; },
      },
      effect);
}

Resource pipe_of(isa::Unit unit) {
  switch (unit) {
    case isa::Unit::alu:
      return Resource::alu;
    case isa::Unit::fma:
      return Resource::fma;
    case isa::Unit::fp64:
      return Resource::fp64;
    case isa::Unit::sfu:
      return Resource::sfu;
    case isa::Unit::lsu:
      return Resource::smem;
    case isa::Unit::tma:
      return Resource::tma;
    case isa::Unit::tensor:
      return Resource::tensor;
    default:
      return Resource::issue;
  }
}

Stall result_of(Path path, isa::Unit unit) {
  switch (path) {
    case Path::global_load:
    case Path::global_atomic:
    case Path::cluster_load:
      return Stall::long_scoreboard;
    case Path::shared_load:
      return Stall::short_scoreboard;
    default:
      return unit == isa::Unit::sfu || unit == isa::Unit::lsu ? Stall::short_scoreboard : Stall::wait;
  }
}

// Registers by number: the order in which the program's operands first name them.
class Numbers {
 public:
  uint32_t of(uint32_t offset) { return numbers_.try_emplace(offset, numbers_.size()).first->second; }
  auto size() const { return static_cast<uint32_t>(numbers_.size()); }

 private:
  std::unordered_map<uint32_t, uint32_t> numbers_;
};

void collect(const DecodedOperand& o, Numbers& numbers, std::vector<uint32_t>& list) {
  using Kind = DecodedOperand::Kind;
  if ((o.kind == Kind::lanes || o.kind == Kind::address) && !o.slot.constant)
    list.push_back(numbers.of(o.slot.offset));
  for (const DecodedOperand& e : o.elements) collect(e, numbers, list);
}

// A wgmma's accumulators are the tensor core's until a wait_group; nobody waits for them by register.
bool is_accumulator(const isa::Effect& effect, size_t operand) {
  const auto* w = std::get_if<isa::Wgmma>(&effect);
  return w != nullptr && static_cast<int>(operand) == w->acc;
}

// Logic, shifts, comparisons and selections of 64 bits go half by half.
uint32_t width_factor(const MicroOp& op, std::string_view key) {
  if (key != "alu" || !std::holds_alternative<isa::Pure>(*op.effect)) return 1;
  const int type = op.instruction->form->slot("type");
  return type >= 0 && isa::bits(op.instruction->type()) == 64 ? 2 : 1;
}

// A warp issues its next wgmma the later the more columns this one has; other instructions follow sooner.
// A fence takes the same way.
void hold_wgmma(Price& p, const isa::Effect& effect) {
  if (std::holds_alternative<isa::WgmmaFence>(effect)) p.pipe = Resource::tensor;
  const auto* w = std::get_if<isa::Wgmma>(&effect);
  if (w == nullptr) return;
  p.interval = std::max(4.0, w->n / 8.0 - 4);
  p.held = std::max(1.0, p.interval - 14);
}

// A commit right behind a wgmma is a mark of that instruction.
bool ends_group(const isa::Effect* before, const isa::Effect& effect) {
  return before != nullptr && std::holds_alternative<isa::Wgmma>(*before) &&
         std::holds_alternative<isa::WgmmaCommit>(effect);
}

bool is_far(isa::Scope s) { return s != isa::Scope::cta; }
bool is_release(isa::Order o) { return o == isa::Order::release || o == isa::Order::acq_rel; }
bool is_acquire(isa::Order o) { return o == isa::Order::acquire || o == isa::Order::acq_rel; }

// ptxas puts a fence in front of a release at cluster scope or above ...
bool releases(const isa::Effect& effect) {
  const auto gives = [](const auto* e) { return e != nullptr && is_release(e->order) && is_far(e->scope); };
  const auto* m = std::get_if<isa::Mbarrier>(&effect);
  const auto* b = std::get_if<isa::ClusterBarrier>(&effect);
  return gives(std::get_if<isa::Store>(&effect)) || gives(std::get_if<isa::Atomic>(&effect)) ||
         (gives(m) && m->action == isa::MbarrierAction::arrive) ||
         (b != nullptr && b->arrive && b->order != isa::Order::relaxed);
}

// ... and drops what L1 holds behind an acquire.
bool acquires(const isa::Effect& effect) {
  const auto takes = [](const auto* e) { return e != nullptr && is_acquire(e->order) && is_far(e->scope); };
  const auto* m = std::get_if<isa::Mbarrier>(&effect);
  const bool waits = m != nullptr && (m->action == isa::MbarrierAction::test_wait ||
                                      m->action == isa::MbarrierAction::try_wait);
  const auto* f = std::get_if<isa::Fence>(&effect);
  const auto* c = std::get_if<isa::ClusterBarrier>(&effect);
  return takes(std::get_if<isa::Load>(&effect)) || takes(std::get_if<isa::Atomic>(&effect)) ||
         (waits && takes(m)) || (c != nullptr && !c->arrive) ||
         (f != nullptr && !f->proxy && !f->mbarrier_init && f->order != isa::Order::release &&
          is_far(f->scope));
}

// red.shared.add.u32 of 1 counts the lanes that name a word.
bool counts_lanes(const MicroOp& op) {
  const auto* a = std::get_if<isa::Atomic>(op.effect);
  if (a == nullptr || a->op != isa::AtomicOp::add || a->type != isa::Type::u32 || a->dst >= 0) return false;
  const DecodedOperand& b = op.operands[a->b];
  return b.slot.constant && b.offset == 1;
}

}  // namespace

Prices::Prices(const Program& program, const isa::ClockParameters& parameters)
    : hand_over_(static_cast<uint64_t>(parameters.issue_other_pipe)),
      branch_predicate_(static_cast<uint64_t>(parameters.issue_branch_predicate)) {
  Numbers numbers;
  const isa::OpCost& gpu_fence = parameters.cost("fence_gpu");
  fence_interval_ = gpu_fence.interval;
  const isa::Effect* before = nullptr;
  for (const MicroOp& op : program.code) {
    Price& p = prices_.emplace_back();
    const isa::Effect* const last = std::exchange(before, op.effect);
    if (op.instruction == nullptr) {  // the end of a function
      p.path = Path::exit;
      p.first_read = p.first_write = static_cast<uint32_t>(registers_.size());
      continue;
    }
    const isa::Timing timing = isa::timing(*op.instruction);
    const isa::OpCost& cost = parameters.cost(timing.latency);
    const Reach reach = reach_of(*op.effect);
    const uint32_t factor = width_factor(op, timing.latency);
    p.path = reach.path;
    p.unit = timing.unit;
    p.pipe = pipe_of(timing.unit);
    p.result = result_of(reach.path, timing.unit);
    p.slots = whole(cost.slots) * factor;
    p.free = p.slots == 0;
    p.branches = timing.unit == isa::Unit::branch;
    if (releases(*op.effect)) p.release = whole(gpu_fence.latency);
    p.acquires = acquires(*op.effect);
    p.port = timing.latency == "atom_shared_cas" ? 2 : 1;
    p.loops = timing.latency == "atom_shared_loop";
    p.past_l1 = p.path == Path::global_load && op.instruction->mod("cop") == "cg";
    p.drains = timing.latency == "clock" || timing.latency == "fence_cluster" ||
               timing.latency == "fence_gpu" || timing.latency == "fence_sys";
    p.defers = p.path == Path::plain && !p.drains && timing.unit != isa::Unit::branch &&
               timing.unit != isa::Unit::sync;
    p.interval = std::max(1.0, cost.interval * factor);
    p.held = std::max<double>({1.0, cost.held, static_cast<double>(p.slots)});
    p.latency = whole(cost.latency);
    p.address = reach.address;
    p.bytes = reach.bytes;
    p.space = reach.space;
    p.lanes = reach.lanes;
    p.takes_turns = reach.takes_turns && !counts_lanes(op);
    p.holds = reach.holds;
    p.rows = reach.rows;
    hold_wgmma(p, *op.effect);
    p.free |= ends_group(last, *op.effect);
    p.atomic = reach.atomic;
    std::vector<uint32_t> reads, writes;
    if (op.guard >= 0) reads.push_back(numbers.of(static_cast<uint32_t>(op.guard)));
    for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
      if (is_accumulator(*op.effect, k)) continue;
      const isa::OperandDef& def = op.instruction->form->operands[k];
      const bool writes_it = def.writes && op.operands[k].kind != DecodedOperand::Kind::address;
      collect(op.operands[k], numbers, writes_it ? writes : reads);
      if (writes_it && def.reads) collect(op.operands[k], numbers, reads);
    }
    p.first_read = static_cast<uint32_t>(registers_.size());
    p.reads = static_cast<uint32_t>(reads.size());
    registers_.insert(registers_.end(), reads.begin(), reads.end());
    p.first_write = static_cast<uint32_t>(registers_.size());
    p.writes = static_cast<uint32_t>(writes.size());
    registers_.insert(registers_.end(), writes.begin(), writes.end());
  }
  register_count_ = numbers.size();
  fold_constants(program, parameters, prices_);
  fold(program, prices_);
  gather(program, parameters, prices_);
  give_boards(program, prices_);
}

}  // namespace palladion::sim::hardware
