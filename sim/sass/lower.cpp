#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "sim/sass/constants.h"
#include "sim/sass/fold.h"
#include "sim/sass/gather.h"
#include "sim/sass/lowered.h"
#include "sim/sass/pressure.h"
#include "sim/sass/scoreboards.h"

namespace palladion::sim::sass {
namespace {

using Object = isa::Sync::Object;
using Role = isa::Async::Role;

// An access takes the path of its space.
struct Paths {
  Path shared, cluster, global;
  Path of(isa::Space s) const {
    return s == isa::Space::shared_cta                           ? shared
           : s == isa::Space::shared_cluster                     ? cluster
           : s == isa::Space::global || s == isa::Space::generic ? global
                                                                 : Path::plain;
  }
};
constexpr Paths loads{Path::shared_load, Path::cluster_load, Path::global_load};
constexpr Paths stores{Path::shared_store, Path::cluster_store, Path::global_store};

bool is_data(const isa::MemoryUse& m) { return m.content == isa::Content::data; }

Path access_path(const isa::MemoryUse& m, bool has_result) {
  if (!is_data(m)) return Path::plain;
  if (!m.modifies()) return (m.reads ? loads : stores).of(m.space);
  return is_shared(m.space) ? (has_result ? loads : stores).of(m.space) : Path::global_atomic;
}

Path path_of(const isa::Footprint& f, bool has_result) {
  if (f.ends()) return Path::exit;
  if (f.issues()) return Path::async;
  if (f.at(Object::fence)) return Path::fence;
  if (f.async.role == Role::waits) return Path::waits;
  if (!f.at(Object::none) && !f.at(Object::warp) && !f.at(Object::grid)) return Path::waits;
  return f.memory.empty() ? Path::plain : access_path(f.memory.front(), has_result);
}

// Where the address of its access stands, and how many bytes a lane moves.
void set_access(LoweredInstruction& l, const isa::Footprint& f) {
  const bool by_lanes = !f.issues() || f.issues(isa::AsyncFamily::remote_store);
  if (l.path == Path::plain || l.path == Path::fence || !by_lanes || f.memory.empty()) return;
  const isa::MemoryUse& m = f.memory.front();
  l.address = m.address;
  l.bytes = m.bytes;
  l.space = m.space;
  l.lanes = m.lanes;
  l.atomic = m.modifies();
  l.serialised = l.atomic && !f.issues();
  l.rows = f.values == isa::Values::tensor;
}

void set_mbarrier(LoweredInstruction& l, const isa::Footprint& f) {
  l.holds = f.at(Object::mbarrier) && !f.sync.waits;
  if (l.holds && f.sync.space == isa::Space::shared_cluster) l.address = f.sync.operand;
}

// Logic, shifts, comparisons and selections of 64 bits go half by half.
uint8_t halves_of(const MicroOp& op, std::string_view key) {
  if (key != "alu" || !std::holds_alternative<isa::Pure>(*op.effect)) return 1;
  const int type = op.instruction->form->slot("type");
  return type >= 0 && isa::bits(op.instruction->type()) == 64 ? 2 : 1;
}

bool is_far(isa::Scope s) { return s != isa::Scope::cta; }

// red.shared.add.u32 of 1 counts the lanes that name a word.
bool counts_lanes(const MicroOp& op) {
  const auto* a = std::get_if<isa::Atomic>(op.effect);
  if (a == nullptr || a->op != isa::AtomicOp::add || a->type != isa::Type::u32 || a->dst >= 0) return false;
  const DecodedOperand& b = op.operands[a->b];
  return b.slot.constant && b.offset == 1;
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

class Lowering {
 public:
  Lowering(const Program& program, const isa::ClockParameters& parameters)
      : program_(program), p_(parameters) {}

  Lowered run() {
    for (const MicroOp& op : program_.code) {
      LoweredInstruction& l = out_.code.emplace_back();
      if (op.instruction != nullptr)
        translate(op, l);
      else  // the end of a function
        l.path = Path::exit, l.unit = l.pipe = isa::Unit::none;
      list_registers(op, l);
    }
    out_.register_count = numbers_.size();
    fold_constants(program_, p_, out_.code);
    fold(program_, out_.code);
    gather(program_, out_.code);
    assign_scoreboards(program_, out_.code);
    out_.thread_registers = estimated_registers(program_);
    return std::move(out_);
  }

 private:
  void translate(const MicroOp& op, LoweredInstruction& l) {
    const isa::Footprint& f = program_.footprint(op);
    const isa::Timing timing = isa::timing(*op.instruction);
    const std::string_view key = timing.latency;
    l.path = path_of(f, returns(op));
    l.unit = l.pipe = timing.unit;
    l.row = static_cast<uint16_t>(isa::op_key(key));
    l.halves = halves_of(op, key);
    l.slots = whole(p_.ops[l.row].slots) * l.halves;
    if (l.slots == 0) l.fold = Fold::renamed;
    set_access(l, f);
    set_mbarrier(l, f);
    if (counts_lanes(op)) l.serialised = false;
    l.branches = timing.unit == isa::Unit::branch;
    l.releases = l.path != Path::fence && f.releases() && is_far(f.scope);
    l.acquires = f.acquires() && is_far(f.scope);
    l.loops = key == "atom_shared_loop";
    l.past_l1 = l.path == Path::global_load && op.instruction->form->slot("cop") >= 0 &&
                op.instruction->mod("cop") == "cg";
    l.drains = key == "clock" || key == "fence_cluster" || key == "fence_gpu" || key == "fence_sys";
    l.defers = l.path == Path::plain && !l.drains && timing.unit != isa::Unit::branch &&
               timing.unit != isa::Unit::sync;
    set_wgmma(op, f, l);
    set_tensor_memory(op, l);
  }

  static void set_tensor_memory(const MicroOp& op, LoweredInstruction& l) {
    if (const auto* load = std::get_if<isa::TensorMemoryLoad>(op.effect))
      l.registers = static_cast<uint32_t>(op.operands[load->dst].elements.size());
    if (const auto* store = std::get_if<isa::TensorMemoryStore>(op.effect))
      l.registers = static_cast<uint32_t>(op.operands[store->src].elements.size());
  }

  // A fence of the warpgroup takes the way of its products. A commit right behind one is a mark of it.
  void set_wgmma(const MicroOp& op, const isa::Footprint& f, LoweredInstruction& l) {
    if (f.async.family != isa::AsyncFamily::wgmma) return;
    if (f.async.role == Role::orders) l.pipe = isa::Unit::tensor;
    if (const auto* w = std::get_if<isa::Wgmma>(op.effect)) l.columns = static_cast<uint32_t>(w->n);
    if (f.commits_group() && op.pc > 0 && program_.footprints[op.pc - 1].issues(isa::AsyncFamily::wgmma))
      l.fold_as(Fold::marked, op.pc - 1);
  }

  static bool returns(const MicroOp& op) {
    const auto* a = std::get_if<isa::Atomic>(op.effect);
    return a != nullptr && a->dst >= 0;
  }

  // A wgmma's accumulators are the tensor core's until a wait_group; no instruction waits for them by
  // register.
  static bool is_accumulator(const isa::Effect& effect, size_t operand) {
    const auto* w = std::get_if<isa::Wgmma>(&effect);
    return w != nullptr && static_cast<int>(operand) == w->acc;
  }

  void list_registers(const MicroOp& op, LoweredInstruction& l) {
    std::vector<uint32_t> reads, writes;
    if (op.instruction != nullptr) {
      if (op.guard >= 0) reads.push_back(numbers_.of(static_cast<uint32_t>(op.guard)));
      for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
        if (is_accumulator(*op.effect, k)) continue;
        const isa::OperandDef& def = op.instruction->form->operands[k];
        const bool written = def.writes && op.operands[k].kind != DecodedOperand::Kind::address;
        collect(op.operands[k], numbers_, written ? writes : reads);
        if (written && def.reads) collect(op.operands[k], numbers_, reads);
      }
    }
    l.reads = static_cast<uint32_t>(reads.size());
    l.first_read = append(reads);
    l.writes = static_cast<uint32_t>(writes.size());
    l.first_write = append(writes);
  }
  uint32_t append(const std::vector<uint32_t>& list) {
    const auto first = static_cast<uint32_t>(out_.registers.size());
    out_.registers.insert(out_.registers.end(), list.begin(), list.end());
    return first;
  }

  const Program& program_;
  const isa::ClockParameters& p_;
  Numbers numbers_;
  Lowered out_;
};

}  // namespace

uint32_t whole(double cycles) { return static_cast<uint32_t>(std::lround(cycles)); }

std::string_view name(Fold fold) {
  constexpr std::string_view names[] = {"",
                                        "a register's other name",
                                        "its result is known",
                                        "its result is an operand",
                                        "offset of an address",
                                        "half of a register pair",
                                        "sign of an operand",
                                        "sum of IMAD",
                                        "shift of LEA",
                                        "third input",
                                        "predicate of ISETP",
                                        "once in four iterations",
                                        "mark of wgmma"};
  return names[static_cast<size_t>(fold)];
}

Lowered lower(const Program& program, const isa::ClockParameters& parameters) {
  return Lowering(program, parameters).run();
}

}  // namespace palladion::sim::sass
