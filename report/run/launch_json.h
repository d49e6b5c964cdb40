// A launch without the contents of its arrays, for programs that make it: the Python package.
#pragma once

#include <string>

#include "report/run/launched.h"

namespace palladion::report {

// {"kernel", "arch", "sizes", "settings", "entry", "grid", "block", "cluster", "shared": bytes,
// "cooperative",
//  "programmatic", "arrays": [{"name", "role", "dtype", "shape"}],
//  "params": [{"array": i}, {"array": i, "tensor_map": the 128 bytes, whose address is an offset into the
//  array},
//             {"bytes"}]}, bytes as hexadecimal digits.
std::string launch_json(const Launched& launched);

}  // namespace palladion::report
