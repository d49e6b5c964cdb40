#include "sim/explore/data_dependence.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "sim/explore/text_dependence.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t word_bytes = 4;

// Data: which lanes hold some, and pc + 1 of a load that they come from; 0: none.
struct Data {
  uint32_t lanes = 0, cause = 0;
  void add(const Data& other, uint32_t of) {
    if ((other.lanes & of) == 0) return;
    if (lanes == 0) cause = other.cause;
    lanes |= other.lanes & of;
  }
};

// A load, or a copy: where it reads, or whether it does, is no matter to others if nobody writes there.
bool only_reads(const isa::Footprint& f, const RegisterUse& use) {
  if (f.order != isa::Order::weak || f.writes_memory()) return f.issues() && use.address;
  return f.read() != nullptr && f.values == isa::Values::loaded;
}

// The operand says where the instruction reads memory that no other thread can write, or GMEM.
bool says_where_to_read(const isa::Footprint& f, const RegisterUse& use) {
  if (use.operand < 0) return !f.issues();
  return std::ranges::any_of(f.memory, [&](const isa::MemoryUse& m) {
    return m.address == use.operand && m.reads && !m.writes && !is_shared(m.space);
  });
}

DataDependence::Kind kind_of(const isa::Footprint& f, const RegisterUse& use) {
  using Kind = DataDependence::Kind;
  if (use.operand < 0) return f.next == isa::Control::next ? Kind::predicate : Kind::branch;
  if (use.address || f.sync.operand == use.operand || f.async.mbarrier == use.operand) return Kind::address;
  return f.next == isa::Control::branches ? Kind::branch : Kind::count;
}

}  // namespace

// The data in registers, shared and local memory of a cluster.
class ClusterData {
 public:
  using Found = DataObserver::Found;
  using Key = DataObserver::Key;

  ClusterData(const RunView& run, const DataSlice& slice, const ClusterState& cluster)
      : run_(run), slice_(slice), cluster_(cluster) {}

  void on(const ClusterBegan&) {
    warps_.resize(cluster_.ctas.size() * run_.launch->warps_per_cta());
    for (Warp& warp : warps_) warp.registers.resize(slice_.tracked());
    shared_.resize(cluster_.ctas.size());
  }

  // The guard decides whether the instruction is executed.
  void on(const Reached& e) {
    const MicroOp& op = run_.program->code[e.origin.pc];
    const RegisterUse guard = guard_of(op);
    const Data data = of(e.origin, guard.reg);
    if ((data.lanes & e.origin.lanes) == 0) return;
    if (!slice_.is_harmless(e.origin.pc) && matters(footprint(op), guard)) note(e.origin, guard, data.cause);
    each_result(e.origin, op, [&](Data& result) { result.add(data, e.origin.lanes); });
  }

  void on(const Executing& e) {
    if (!slice_.watches(e.origin.pc)) return;
    const MicroOp& op = run_.program->code[e.origin.pc];
    accessed_ = false;
    for_each_value(*run_.program, op, [&](const RegisterUse& use) {
      if (use.operand < 0 || !matters(footprint(op), use)) return;
      const Data data = of(e.origin, use.reg);
      if ((data.lanes & e.origin.lanes) != 0) note(e.origin, use, data.cause);
    });
    if (footprint(op).next == isa::Control::calls) set_results(e.origin, op, {~0U, e.origin.pc + 1});
  }

  // What registers hold then. What was read of memory is known since Access.
  void on(const Executed& e) {
    if (!slice_.watches(e.origin.pc)) return;
    const MicroOp& op = run_.program->code[e.origin.pc];
    const isa::Footprint& f = footprint(op);
    const uint32_t cause = e.origin.pc + 1;
    if (gives_data(f, true) && f.read() != nullptr) {
      if (!accessed_ && gives_data(f, false)) set_results(e.origin, op, {~0U, cause});
      return;
    }
    Data data = of_operands(e.origin, op);
    // Predicates of other warps are part of it.
    if (f.at(isa::Sync::Object::cta_barrier)) data = {~0U, cause};
    if (f.values != isa::Values::lane_wise && (data.lanes & e.origin.lanes) != 0) data.lanes = ~0U;
    set_results(e.origin, op, data);
  }

  void on(const Access& a) {
    const MicroOp& op = run_.program->code[a.origin.pc];
    accessed_ = true;
    if (a.kind != Access::Kind::read) stored(a, op);
    if (a.kind != Access::Kind::write) loaded(a, op);
  }

  void on(const AsyncIssue& issue) {
    const bool no_data = issue.family == isa::AsyncFamily::cluster_launch;
    for (const Piece& piece : issue.writes) {
      if (piece.space == isa::Space::global) wrote_global(piece.address);
      if (!piece.shared() || !slice_.through_memory()) continue;
      put_shared(SharedAddress(piece.address), piece.bytes, no_data ? 0 : issue.origin.pc + 1);
    }
    const auto reads = reads_of(issue.origin.pc);
    for (const Piece& piece : issue.reads)
      if (piece.space == isa::Space::global) note_reads(reads, piece.address);
  }

  const Found& found() const { return found_; }

 private:
  struct Warp {
    std::vector<Data> registers;               // by DataSlice::index_of
    std::unordered_map<uint64_t, Data> local;  // by address / 4
  };

  const isa::Footprint& footprint(const MicroOp& op) const { return run_.program->footprint(op); }
  Warp& warp_of(const Origin& origin) {
    return warps_[origin.cta_rank * run_.launch->warps_per_cta() + origin.warp];
  }
  Data of(const Origin& origin, uint32_t reg) {
    const uint32_t i = slice_.index_of(reg);
    return i == isa::no_id ? Data{} : warp_of(origin).registers[i];
  }
  RegisterUse guard_of(const MicroOp& op) const {
    const uint32_t base = run_.program->register_offsets_base[op.function];
    return {.reg = base + op.instruction->guard.reg, .reads = true};
  }
  Data of_operands(const Origin& origin, const MicroOp& op) {
    Data data;
    for_each_value(*run_.program, op, [&](const RegisterUse& use) {
      if (use.reads && !use.address && use.operand >= 0) data.add(of(origin, use.reg), origin.lanes);
    });
    return data;
  }

  Data of_address(const Origin& origin, const MicroOp& op) {
    Data data;
    for_each_value(*run_.program, op, [&](const RegisterUse& use) {
      if (use.address) data.add(of(origin, use.reg), origin.lanes);
    });
    return data;
  }

  // visit(Data&) of each register that the instruction writes and that is tracked.
  template <class Visit>
  void each_result(const Origin& origin, const MicroOp& op, Visit&& visit) {
    for_each_value(*run_.program, op, [&](const RegisterUse& use) {
      const uint32_t i = use.writes ? slice_.index_of(use.reg) : isa::no_id;
      if (i != isa::no_id) visit(warp_of(origin).registers[i]);
    });
  }
  // Of the executing lanes; where the guard is made of data, others keep that.
  void set_results(const Origin& origin, const MicroOp& op, const Data& data) {
    Data guard;
    if (op.guard >= 0) guard = of(origin, guard_of(op).reg);
    each_result(origin, op, [&](Data& result) {
      result.lanes &= ~origin.lanes;
      result.add(guard, ~0U);
      result.add(data, origin.lanes);
    });
  }

  void note(const Origin& origin, const RegisterUse& use, uint32_t cause) {
    const MicroOp& op = run_.program->code[origin.pc];
    const isa::Footprint& f = footprint(op);
    const Key key{cause - 1, origin.pc, kind_of(f, use)};
    if (only_reads(f, use) && says_where_to_read(f, use))
      found_.reads[key];
    else
      found_.uses.insert(key);
  }
  // The reads at `pc` whose place depends on data.
  std::vector<std::set<uint64_t>*> reads_of(Pc pc) {
    std::vector<std::set<uint64_t>*> all;
    for (auto& [key, arrays] : found_.reads)
      if (std::get<1>(key) == pc) all.push_back(&arrays);
    return all;
  }
  void note_reads(const std::vector<std::set<uint64_t>*>& reads, uint64_t address) {
    if (reads.empty()) return;
    const Allocation* const a = run_.memory->lookup(Address(address));
    for (std::set<uint64_t>* arrays : reads) arrays->insert(a == nullptr ? address : a->base);
  }
  void wrote_global(uint64_t address) {
    if (address - last_written_ < last_size_) return;
    const Allocation* const a = run_.memory->lookup(Address(address));
    last_written_ = a == nullptr ? address : a->base;
    last_size_ = a == nullptr ? 1 : a->size;
    found_.written.insert(last_written_);
  }

  // --- memory ---
  uint32_t& shared_word(SharedAddress address) {
    auto& words = shared_[address >> cta_rank_shift];
    const size_t at = (address & shared_offset_mask) / word_bytes;
    if (at >= words.size()) words.resize(at + 1);
    return words[at];
  }
  void put_shared(SharedAddress address, uint32_t bytes, uint32_t cause) {
    for (uint32_t at = address / word_bytes * word_bytes; at < address + bytes; at += word_bytes)
      if (cause != 0 || (at >= address && at + word_bytes <= address + bytes))
        shared_word(SharedAddress(at)) = cause;
  }
  void put_local(Warp& warp, uint64_t address, uint32_t bytes, int lane, uint32_t cause) {
    for (uint64_t at = local_word(address); at <= local_word(address + bytes - 1); ++at) {
      Data& word = warp.local[at];
      const bool whole = address % word_bytes == 0 && bytes % word_bytes == 0;
      if (cause == 0 && whole) word.lanes &= ~(1U << lane);
      if (cause != 0) word.add({1U << lane, cause}, ~0U);
    }
  }

  void stored(const Access& a, const MicroOp& op) {
    Data data = of_operands(a.origin, op);
    if (footprint(op).values != isa::Values::stored) data.lanes = data.lanes != 0 ? ~0U : 0;
    for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const uint64_t address = a.addresses[lane];
      const isa::Space space = space_of(a.space, address);
      if (space == isa::Space::global) wrote_global(address);
      if (space == isa::Space::global || !slice_.through_memory()) continue;
      const uint32_t cause = (data.lanes >> lane & 1) != 0 ? data.cause : 0;
      if (a.kind == Access::Kind::atomic && cause == 0) continue;  // made of what was there
      if (is_shared(space))
        put_shared(Exec::shared_address(address), a.size, cause);
      else
        put_local(warp_of(a.origin), address, a.size, lane, cause);
    }
  }

  static uint64_t local_word(uint64_t address) { return local_offset(address) / word_bytes; }
  // pc + 1 of the load that what is there comes from; 0: it is no data.
  uint32_t cause_at(const Access& a, int lane) {
    const uint64_t address = a.addresses[lane];
    const isa::Space space = space_of(a.space, address);
    if (space == isa::Space::global || a.kind == Access::Kind::atomic) return a.origin.pc + 1;
    const bool launched = space == isa::Space::param && address < local_window;
    if (space == isa::Space::const_ || launched) return 0;
    if (is_shared(space)) {
      uint32_t cause = 0;
      for (uint64_t at = address; at < address + a.size; at += word_bytes)
        cause = std::max(cause, shared_word(Exec::shared_address(at)));
      return cause;
    }
    Data data;
    for (uint64_t at = local_word(address); at <= local_word(address + a.size - 1); ++at)
      if (const auto word = warp_of(a.origin).local.find(at); word != warp_of(a.origin).local.end())
        data.add(word->second, 1U << lane);
    return data.lanes != 0 ? data.cause : 0;
  }

  void loaded(const Access& a, const MicroOp& op) {
    note_places(a);
    if (!slice_.watches(a.origin.pc)) return;
    Data data = of_address(a.origin, op);  // another place holds another value
    for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      if (const uint32_t cause = cause_at(a, lane); cause != 0) data.add({1U << lane, cause}, ~0U);
    }
    if (footprint(op).values == isa::Values::tensor && data.lanes != 0) data.lanes = ~0U;
    set_results(a.origin, op, data);
  }

  // Of a read whose place depends on data: in SMEM others may write there.
  void note_places(const Access& a) {
    const auto reads = reads_of(a.origin.pc);
    if (reads.empty()) return;
    for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
      const uint64_t address = a.addresses[std::countr_zero(m)];
      const isa::Space space = space_of(a.space, address);
      if (space == isa::Space::global) note_reads(reads, address);
      if (!is_shared(space)) continue;
      for (const auto& [key, arrays] : found_.reads)
        if (std::get<1>(key) == a.origin.pc) found_.uses.insert(key);
    }
  }

  RunView run_;
  const DataSlice& slice_;
  const ClusterState& cluster_;
  std::vector<Warp> warps_;
  std::vector<std::vector<uint32_t>> shared_;  // by CTA: of each word pc + 1 of the load it comes from
  bool accessed_ = false;                      // by the instruction that executes now
  uint64_t last_written_ = 0, last_size_ = 0;  // an array
  Found found_;
};

DataObserver::DataObserver() = default;
DataObserver::~DataObserver() = default;

void DataObserver::start(const RunView& run) {
  run_ = run;
  slice_ = DataSlice(*run.program);
  clusters_.clear();
  found_ = {};
  scope_ = {.depends_on_grid = depends_on_grid(*run.program),
            .depends_on_order = depends_on_order(*run.program),
            .elects = elects_lanes(*run.program)};
}

void DataObserver::observe(ClusterState& cluster, ClusterEvents& events) {
  if (slice_.empty()) return;
  events.add(clusters_.add(cluster, std::make_unique<ClusterData>(run_, slice_, cluster)));
}

void DataObserver::retire(ClusterState& cluster) {
  const auto part = clusters_.take(cluster);
  if (part == nullptr) return;
  const Found& found = part->found();
  found_.uses.insert(found.uses.begin(), found.uses.end());
  for (const auto& [key, arrays] : found.reads) found_.reads[key].insert(arrays.begin(), arrays.end());
  found_.written.insert(found.written.begin(), found.written.end());
}

DataDependence DataObserver::dependence(const Key& key) const {
  const auto& [load, use, kind] = key;
  return {kind, site_at(*run_.program, Pc(load), {}, {}, 0), site_at(*run_.program, Pc(use), {}, {}, 0)};
}

void DataObserver::finish(std::vector<Finding>&) {
  std::set<Key> uses = found_.uses;
  for (const auto& [key, arrays] : found_.reads) {
    const bool written = std::ranges::any_of(arrays, [&](uint64_t a) { return found_.written.contains(a); });
    if (written)
      uses.insert(key);
    else
      scope_.in_bounds.push_back(dependence(key));
  }
  for (const Key& key : uses) scope_.dependences.push_back(dependence(key));
}

}  // namespace palladion::sim::check
