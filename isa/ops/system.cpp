#include "isa/op.h"

namespace palladion::isa::ops {

OpList system() { return {}; }

}  // namespace palladion::isa::ops
