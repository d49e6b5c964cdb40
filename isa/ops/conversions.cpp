#include "isa/op.h"

namespace palladion::isa::ops {

OpList conversions() { return {}; }

}  // namespace palladion::isa::ops
