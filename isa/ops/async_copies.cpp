#include "isa/op.h"

namespace palladion::isa::ops {

OpList async_copies() { return {}; }

}  // namespace palladion::isa::ops
