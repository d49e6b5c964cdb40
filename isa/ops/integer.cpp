#include "isa/op.h"

namespace palladion::isa::ops {

OpList integer() { return {}; }

}  // namespace palladion::isa::ops
