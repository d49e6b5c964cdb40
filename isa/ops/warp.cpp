#include "isa/op.h"

namespace palladion::isa::ops {

OpList warp() { return {}; }

}  // namespace palladion::isa::ops
