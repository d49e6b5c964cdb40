#pragma once
// isa::Operation of a decoded instruction.
#include "isa/core/op.h"
#include "sim/program/program.h"

namespace palladion::sim::sass {

using isa::Operation;
using isa::operation;
inline Operation operation(const MicroOp& op) { return isa::operation(*op.instruction); }

}  // namespace palladion::sim::sass
