#include "isa/op.h"

namespace palladion::isa::ops {

OpList floating() { return {}; }

}  // namespace palladion::isa::ops
