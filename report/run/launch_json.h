// A launch without the contents of its arrays, for programs that make it: the Python package.
#pragma once

#include <string>

#include "frontend/core/launch.h"
#include "report/run/launched.h"

namespace palladion::report {

// {"kernel", "arch", "sizes", "settings", "entry", "grid", "block", "cluster", "shared": bytes,
// "cooperative",
//  "programmatic", "arrays": [{"name", "role", "dtype", "shape"}],
//  "params": [{"array": i}, {"array": i, "tensor_map": the 128 bytes, whose address is an offset into the
//  array},
//             {"bytes"}, {"bytes", "number": its name, "dtype"} of a number given at launch]},
// bytes as hexadecimal digits. `kernel` is the launch of which the job was made.
std::string launch_json(const Launched& launched, const plgpu::Launch& kernel);

}  // namespace palladion::report
