#include "isa/op.h"

namespace palladion::isa::ops {

OpList atomics() { return {}; }

}  // namespace palladion::isa::ops
