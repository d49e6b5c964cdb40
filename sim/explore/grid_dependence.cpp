#include "sim/explore/grid_dependence.h"

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

bool tells_of_grid(const isa::Operand& o) {
  if (o.is(isa::Operand::Kind::special)) return tells_of_grid(o.special);
  return std::ranges::any_of(o.elements, [](const isa::Operand& e) { return tells_of_grid(e); });
}

bool tells_of_grid(const isa::Effect& effect) {
  // Surfaces are not watched for races.
  return std::holds_alternative<isa::TryCancel>(effect) || std::holds_alternative<isa::QueryCancel>(effect) ||
         std::holds_alternative<isa::SurfaceAccess>(effect);
}

// Printing and assertions aside, what the system gives a CTA depends on others.
bool calls_system(const isa::Module& module, const isa::Operand& o) {
  if (!o.is(isa::Operand::Kind::symbol)) return false;
  const auto f = std::ranges::find(module.functions, o.id, &isa::Function::symbol);
  return f != module.functions.end() && !f->defined && f->name != "vprintf" && f->name != "__assertfail";
}

}  // namespace

bool depends_on_grid(const Program& program) {
  return std::ranges::any_of(program.code, [&](const MicroOp& op) {
    if (op.effect != nullptr && tells_of_grid(*op.effect)) return true;
    return op.instruction != nullptr && std::ranges::any_of(op.instruction->operands, [&](const auto& o) {
             return tells_of_grid(o) || calls_system(*program.module, o);
           });
  });
}

}  // namespace palladion::sim::check
