#pragma once
// What the files of the fake driver share.
#include <cstddef>
#include <cstdint>
#include <string>

namespace fake {

using Status = int;

struct Function {
  void* module;
  std::string name;
  Function* in_context = nullptr;  // of a library's kernel: the function that the driver makes of it
};

Status run(const Function& f, void** params);
// Kernels that use objects. False: it is another kernel.
bool run_with_objects(const std::string& kernel, void** params);

}  // namespace fake
