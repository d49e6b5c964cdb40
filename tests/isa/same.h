#pragma once
// Whether two modules mean the same: numbers of registers, labels and symbols may differ, names may not.
#include <string>

#include "isa/core/module.h"

namespace palladion::isa {

// The first difference, in words; empty when there is none.
std::string difference(const Module& a, const Module& b);

}  // namespace palladion::isa
