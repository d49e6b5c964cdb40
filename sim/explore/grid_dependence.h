#pragma once
// Whether the text of a kernel lets a CTA know how many others the grid has, or which of them run.
#include "sim/program/program.h"

namespace palladion::sim::check {

bool depends_on_grid(const Program& program);

}  // namespace palladion::sim::check
