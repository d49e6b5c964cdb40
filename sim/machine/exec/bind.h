#pragma once
// Makes a compiled program executable: each instruction gets its handler.
#include "sim/program/program.h"

namespace palladion::sim {

void bind_handlers(Program& program);

}  // namespace palladion::sim
