#include "isa/op.h"

namespace palladion::isa::ops {

OpList comparisons() { return {}; }

}  // namespace palladion::isa::ops
