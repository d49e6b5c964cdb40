#include "isa/op.h"

namespace palladion::isa::ops {

OpList memory() { return {}; }

}  // namespace palladion::isa::ops
