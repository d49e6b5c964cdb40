#include "isa/op.h"

namespace palladion::isa::ops {

OpList logic() { return {}; }

}  // namespace palladion::isa::ops
