#include "isa/op.h"

namespace palladion::isa::ops {

OpList matrix() { return {}; }

}  // namespace palladion::isa::ops
