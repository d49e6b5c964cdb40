#pragma once
// What explains that a replay left other addresses of the heap than the device.
#include <string>

#include "cuda/bundle/bundle.h"
#include "isa/core/module.h"
#include "verify/arrays/arrays.h"

namespace palladion::verify {

// Addresses of blocks of the device's heap are the device's own. Where words of 64 bits differ, but each that
// the machine left stands for one of the device's and for no other, and none of them points into recorded
// memory, they are such addresses, or may be. Empty: they are not, or the program does not call malloc.
std::string heap_note(const isa::Module& program, const cuda::bundle::Manifest& manifest, const Array& got,
                      const Array& wanted);

}  // namespace palladion::verify
