#include "sim/explore/text_dependence.h"

#include <algorithm>

namespace palladion::sim::check {
namespace {

// A CTA of a smaller grid may be another one by its number, and run on another SM.
bool tells_of_grid(isa::Special s) {
  using isa::Special;
  switch (s) {
    case Special::nctaid:
    case Special::nclusterid:
    case Special::gridid:
    case Special::smid:
    case Special::nsmid:
    case Special::envreg:
    case Special::current_graph_exec:
      return true;
    default:
      return false;
  }
}

bool tells_of_grid(const isa::Effect& effect) {
  // Surfaces are not watched for races.
  return std::holds_alternative<isa::TryCancel>(effect) || std::holds_alternative<isa::QueryCancel>(effect) ||
         std::holds_alternative<isa::SurfaceAccess>(effect);
}

bool tells_of_order(isa::Special s) {
  using isa::Special;
  switch (s) {
    case Special::warpid:
    case Special::smid:
    case Special::clock:
    case Special::clock_hi:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
    case Special::pm:
    case Special::pm_64:
      return true;
    default:
      return false;
  }
}

bool tells_of_order(const isa::Effect& effect) {
  if (const auto* copy = std::get_if<isa::BulkCopy>(&effect)) return copy->op != isa::BulkOp::copy;
  if (const auto* copy = std::get_if<isa::TensorCopy>(&effect)) return copy->op != isa::BulkOp::copy;
  return std::holds_alternative<isa::Atomic>(effect) || std::holds_alternative<isa::ReduceAsync>(effect) ||
         std::holds_alternative<isa::ActiveMask>(effect) || std::holds_alternative<isa::TryCancel>(effect) ||
         std::holds_alternative<isa::SurfaceAccess>(effect);
}

bool has_special(const isa::Operand& o, bool (*tells)(isa::Special)) {
  if (o.is(isa::Operand::Kind::special)) return tells(o.special);
  return std::ranges::any_of(o.elements, [&](const isa::Operand& e) { return has_special(e, tells); });
}

// Printing and assertions aside, what the system gives a CTA depends on others.
bool calls_system(const isa::Module& module, const isa::Operand& o) {
  if (!o.is(isa::Operand::Kind::symbol)) return false;
  const auto f = std::ranges::find(module.functions, o.id, &isa::Function::symbol);
  return f != module.functions.end() && !f->defined && f->name != "vprintf" && f->name != "__assertfail";
}

// An instruction whose effect, or one of whose special registers, is of this kind; or a call of the system.
bool has(const Program& program, bool (*is_effect)(const isa::Effect&), bool (*is_special)(isa::Special)) {
  return std::ranges::any_of(program.code, [&](const MicroOp& op) {
    if (op.effect != nullptr && is_effect(*op.effect)) return true;
    return op.instruction != nullptr && std::ranges::any_of(op.instruction->operands, [&](const auto& o) {
             return has_special(o, is_special) || calls_system(*program.module, o);
           });
  });
}

}  // namespace

bool depends_on_grid(const Program& program) { return has(program, tells_of_grid, tells_of_grid); }

bool elects_lanes(const Program& program) {
  return std::ranges::any_of(program.code, [](const MicroOp& op) {
    return op.effect != nullptr && std::holds_alternative<isa::Elect>(*op.effect);
  });
}

bool depends_on_order(const Program& program) { return has(program, tells_of_order, tells_of_order); }

}  // namespace palladion::sim::check
