#include "isa/op.h"

namespace palladion::isa::ops {

OpList barriers() { return {}; }

}  // namespace palladion::isa::ops
