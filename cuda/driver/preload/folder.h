#pragma once
#include <string>

namespace palladion::cuda::preload {

// Where this library and what it directs programs to lies.
std::string own_folder();
// This library, for `dlsym`.
void* self();

}  // namespace palladion::cuda::preload
