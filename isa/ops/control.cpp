#include "isa/op.h"

namespace palladion::isa::ops {

OpList control() { return {}; }

}  // namespace palladion::isa::ops
