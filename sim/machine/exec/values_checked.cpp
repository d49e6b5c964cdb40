// Handlers of runs without values, in programs where control reads memory: what is read must be known.
#include "sim/machine/exec/values_checked.h"
#include "isa/formats/tensor_map.h"
#include "sim/launch/fault.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/program/compile/drop_values.h"
#include "sim/program/values_flow.h"

namespace palladion::sim {
namespace {

// What the lanes of an instruction touch. Taken before it is performed: a load may overwrite its address.
struct Touched {
  uint64_t addresses[32];
  uint64_t bytes;
  isa::Space space;
  uint32_t lanes;

  Touched(const Exec& x, const MicroOp& op, int address, isa::Space stated, uint64_t size)
      : bytes(size), space(stated), lanes(x.active) {
    x.addresses(op.operands[address], addresses);
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const uint64_t a = addresses[std::countr_zero(m)];
      visit(space_of(space, a), a);
    }
  }
};

bool performed(Step s) { return s == Step::next || s == Step::yield; }

bool shared_unmaterialised(const Exec& x, uint64_t address, uint64_t bytes) {
  CtaState& cta = x.cluster.ctas[static_cast<uint32_t>(address) >> cta_rank_shift];
  return any_unmaterialised<1>(cta.unmaterialised.data(), address & shared_offset_mask, bytes);
}

// `weak`: of an access that names no space; what it reads from GMEM is tensor data.
bool is_unmaterialised(const Exec& x, const Touched& t, bool weak) {
  bool any = false;
  t.for_each([&](isa::Space s, uint64_t address) {
    if (is_shared(s))
      any |= shared_unmaterialised(x, address, t.bytes);
    else if (s == isa::Space::local)
      any |= x.program.local_unmaterialised;
    else
      any |= weak || x.memory.unmaterialised(Address(address), t.bytes);
  });
  return any;
}

Step refuse(Exec& x, Statement need) {
  if (x.cluster.faulted) return Step::fault;
  x.report(fault(Code::values_needed, std::move(need), {}, FindingSeverity::unsupported));
  x.cluster.faulted = true;
  return Step::fault;
}

Step refuse_read(Exec& x) {
  const ValueFlow::Sink sink = ValueFlow::first_need(x.program, x.pc);
  if (sink.pc == isa::no_id) return refuse(x, say<Phrase::control_needs_values>());
  return refuse(x, say<Phrase::values_decide>(describe_need(x.program, sink.pc, sink.operand, sink.address)));
}

void note(const Exec& x, const Touched& t, bool moved) {
  t.for_each([&](isa::Space s, uint64_t address) {
    if (is_shared(s))
      note_shared(x.cluster, Exec::shared_address(address), static_cast<uint32_t>(t.bytes), moved);
    else if (s != isa::Space::local && s != isa::Space::param)
      x.memory.note(Address(address), t.bytes, moved);
  });
}

uint64_t bytes_of(isa::Type type, int elements) {
  return static_cast<uint64_t>(isa::bytes(type)) * static_cast<uint64_t>(elements);
}

}  // namespace

Step exec_checked(Exec& x, const MicroOp& op, const isa::Load& e) {
  const Touched touched(x, op, e.address, e.space, bytes_of(e.type, e.elements));
  const Step step = exec(x, op, e);
  const bool weak = e.order == isa::Order::weak && e.space == isa::Space::generic;
  return performed(step) && is_unmaterialised(x, touched, weak) ? refuse_read(x) : step;
}

Step exec_checked(Exec& x, const MicroOp& op, const isa::Atomic& e) {
  const Touched touched(x, op, e.address, e.space, bytes_of(e.type, e.elements));
  const Step step = exec(x, op, e);
  return performed(step) && is_unmaterialised(x, touched, false) ? refuse_read(x) : step;
}

Step exec_checked(Exec& x, const MicroOp& op, const isa::Fence& e) {
  const int lane = std::countr_zero(x.active);
  const uint64_t from = x.address_of_lane(op.operands[e.copy_from], lane),
                 to = x.address_of_lane(op.operands[e.address], lane),
                 size = x.lane_value(op.operands[e.size], lane);
  const Step step = exec(x, op, e);
  if (step != Step::next) return step;
  if (shared_unmaterialised(x, from, size)) return refuse(x, say<Phrase::tensor_map_is_data>("copied"));
  x.memory.note(Address(to), size, true);
  return step;
}

// Checked before it is performed: bytes that are no tensor map would be a fault.
Step exec_checked(Exec& x, const MicroOp& op, const isa::TensormapReplace& e) {
  const Touched touched(x, op, e.address, e.space, isa::tensor_map_bytes);
  bool inside = true;  // shared memory that does not exist is the instruction's own fault
  touched.for_each([&](isa::Space s, uint64_t a) {
    inside &= !is_shared(s) || x.shared(a, isa::tensor_map_bytes, "tensormap.replace") != nullptr;
  });
  if (!inside) return Step::fault;
  if (is_unmaterialised(x, touched, false)) return refuse(x, say<Phrase::tensor_map_is_data>("changed"));
  return exec(x, op, e);
}

Step exec_checked(Exec& x, const MicroOp& op, const isa::TensorCopy& e) {
  const Step step = exec(x, op, e);
  if (step != Step::next) return step;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const uint64_t map = x.address_of_lane(op.operands[e.tensor], std::countr_zero(m));
    if (x.memory.unmaterialised(Address(map), 1)) return refuse(x, say<Phrase::tensor_map_is_data>("used"));
  }
  return step;
}

Step exec_noted(Exec& x, const MicroOp& op, const isa::Store& e) {
  const Touched touched(x, op, e.address, e.space, bytes_of(e.type, e.elements));
  const Step step = exec(x, op, e);
  if (performed(step)) note(x, touched, op.moves);
  return step;
}

Step exec_noted(Exec& x, const MicroOp& op, const isa::Atomic& e) {
  const Touched touched(x, op, e.address, e.space, bytes_of(e.type, e.elements));
  const Step step = exec(x, op, e);
  if (performed(step)) note(x, touched, false);
  return step;
}

}  // namespace palladion::sim
