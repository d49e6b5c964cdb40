#pragma once
// What the program loaded, and which of it a kernel is.
#include <string>

#include "capture/driver.h"
#include "capture/program_ptx.h"

namespace palladion::capture {

// `owner`: the module or library that the driver made of `image`.
void loaded(Handle owner, const void* image);
void loaded_file(Handle owner, const char* path);
std::string bytes_of_file(const char* path);  // empty: it cannot be read
// `part` (a function, kernel or module) belongs to `owner`.
void belongs(Handle part, Handle owner);

// The image of which a function was made: by what the program asked for, or as the driver knows it. Null: it
// is not known.
const LoadedImage* image_of(Handle function);

std::string name_of(Handle function);
std::string demangled(const std::string& name);

}  // namespace palladion::capture
