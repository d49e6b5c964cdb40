// A recorded kernel as JSON: its program as PTX text, with the author's lines and the buffers' names, and its
// launch. It travels from the process that runs a learner's code to the one that judges.
#pragma once

#include "isa/host/outcome.h"
#include "frontend/core/launch.h"
#include "report/json/document.h"

namespace palladion::cli {

json::object kernel_json(const plgpu::Kernel& kernel);
// Of text that nobody vouches for: the error says what is wrong with it.
Outcome<plgpu::Kernel> kernel_of(const json::value& value);

}  // namespace palladion::cli
