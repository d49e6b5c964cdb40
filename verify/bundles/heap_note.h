#pragma once
// What explains that a replay left other addresses of the heap than the device.
#include <string>

#include "cli/subjects/subject.h"

namespace palladion::cli {

// Addresses of blocks of the device's heap are the device's own. Where words of 64 bits differ, but each that
// the machine left stands for one of the device's and for no other, and none of them points into recorded
// memory, they are such addresses, or may be. Empty: they are not, or the program does not call malloc.
std::string heap_note(const Subject& subject, const Array& got, const Array& wanted);

}  // namespace palladion::cli
