// A recorded kernel as JSON: its program as PTX text, with the author's lines and the buffers' names, and its
// launch. It travels from the process that runs a learner's code to the one that judges.
#pragma once

#include "frontend/core/launch.h"
#include "isa/host/outcome.h"
#include "report/json/document.h"

namespace palladion::labs {

report::json::object kernel_json(const plgpu::Kernel& kernel);
// Of text that nobody vouches for: the error says what is wrong with it.
host::Outcome<plgpu::Kernel> kernel_of(const report::json::value& value);

}  // namespace palladion::labs
