#include "sim/machine/exec/bind.h"

#include <utility>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/product_waits.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {
namespace {

template <class E>
Step perform(Exec& x, const MicroOp& op) {
  return exec(x, op, effect<E>(op));
}
template <class E>
Step perform_checked(Exec& x, const MicroOp& op) {
  return exec_checked(x, op, effect<E>(op));
}
template <class E>
Step perform_noted(Exec& x, const MicroOp& op) {
  return exec_noted(x, op, effect<E>(op));
}
Step perform_nothing(Exec&, const MicroOp&) { return Step::next; }
Step ask_early(Exec& x, const MicroOp& op) { return exec_early_wait(x, op, effect<isa::Mbarrier>(op)); }
Step run_off_the_end(Exec& x, const MicroOp& op) { return exec(x, op, isa::Return{}); }
Step refuse(Exec& x, const MicroOp&) { return x.unsupported(say<Phrase::these_types>()); }

template <class E>
concept Checked = requires(Exec& x, const MicroOp& op, const E& e) { exec_checked(x, op, e); };
template <class E>
concept Noted = requires(Exec& x, const MicroOp& op, const E& e) { exec_noted(x, op, e); };

// Of a Pure or an Approx.
Handler computation(const MicroOp& op) {
  if (op.fn == nullptr) return refuse;
  if (op.data == DataUse::none) return perform_nothing;
  if (op.copies_accumulator) return exec_copy_of_accumulator;
  const bool simple =
      op.negated_sources == 0 && !op.dynamic_special && op.destinations == 1 && op.sources <= 4;
  return simple ? compute : compute_general;
}

template <class E>
Handler handler_of(const MicroOp& op) {
  if constexpr (Checked<E>) {
    if (op.data == DataUse::checked) return perform_checked<E>;
  }
  if constexpr (Noted<E>) {
    if (op.data == DataUse::noted) return perform_noted<E>;
  }
  return op.data == DataUse::none ? perform_nothing : perform<E>;
}
template <>
Handler handler_of<isa::Pure>(const MicroOp& op) {
  return computation(op);
}
template <>
Handler handler_of<isa::Approx>(const MicroOp& op) {
  return computation(op);
}

}  // namespace

void bind_handlers(Program& program) {
  for (MicroOp& op : program.code)
    op.handler = op.effect == nullptr
                     ? run_off_the_end
                     : std::visit([&]<class E>(const E&) { return handler_of<E>(op); }, *op.effect);
  for (const auto& [pc, waits] : program.early_waits) program.code[pc].handler = ask_early;
  for (auto& [pc, wait] : program.injected_waits) {
    MicroOp& op = program.code[pc];
    if (op.data == DataUse::full) wait.handler = std::exchange(op.handler, exec_after_products);
  }
}

}  // namespace palladion::sim
