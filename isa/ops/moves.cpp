#include "isa/op.h"

namespace palladion::isa::ops {

OpList moves() { return {}; }

}  // namespace palladion::isa::ops
