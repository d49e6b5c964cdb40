// A launch from Python as a job of `verify`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "python/native/program.h"
#include "report/run/launched.h"
#include "verify/launch/job.h"

namespace palladion::python {

struct LaunchedJob {
  const Program* program = nullptr;
  Job job;
  std::vector<std::string> contents;  // of each buffer, for reports
  size_t arrays = 0;                  // of the request; buffers in front of all others
  std::vector<size_t> hashes;         // of the contents of those of them that are only read; 0 of others

  // Arrays that the kernel was given to read, and that a run of this job has changed.
  std::vector<std::string> written_inputs() const;
  report::Launched launched(bool compared) const;
};

// {"entry", "grid", "block", "cluster", "shared", "cooperative", "programmatic",
//  "arrays": [{"name", "role": "in", "out", "inout", "scratch" or "profile", "dtype", "shape"}],
//  "params": [{"array": i}, {"array": i, "map": {...}}, {"array": i, "tensor_map": encoded}, {"bytes"}]}, as
//  launch_json has it (report/run/launch_json.h), bytes as hexadecimal digits.
// A map is {"box", "strides", "swizzle": bytes, "oob": "zero" or "nan", "l2": bytes, "offset": bytes},
// outermost dimension first, strides in elements. `data`: the contents of each array that is read, row-major.
Outcome<std::unique_ptr<LaunchedJob>> open_job(const Program& program, const Request& request,
                                               const void* const* data);
// The launch that a bundle recorded.
Outcome<std::unique_ptr<LaunchedJob>> open_recorded(const Program& program);

}  // namespace palladion::python
