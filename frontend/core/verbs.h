#pragma once
// For the files that implement verbs, not for headers: the words of recording without `frontend::` and
// `isa::`.
#include "frontend/core/errors.h"
#include "frontend/core/recorder.h"

namespace palladion::frontend::verbs {
using frontend::Code;
using frontend::fail;
using frontend::Recorder;
using frontend::VerbScope;
using isa::Operand;
using isa::Type;
}  // namespace palladion::frontend::verbs

namespace palladion::plgpu {
using namespace frontend::verbs;
}
namespace palladion::pl {
using namespace frontend::verbs;
}
