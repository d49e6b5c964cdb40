#pragma once
// The objects (program and libraries) of this process, as the dynamic linker maps them.
#include <cstdint>
#include <string>

namespace palladion::cuda::preload {

struct Object {
  std::string path;
  uintptr_t base = 0;  // what is added to the addresses in its file
  bool program = false;
};

// Calls `take` with each object that is mapped now or later, each once and before its constructors run.
// False: those of dlopen cannot be seen on this system.
bool for_each_object(void (*take)(const Object&));

}  // namespace palladion::cuda::preload
