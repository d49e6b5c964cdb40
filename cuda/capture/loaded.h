#pragma once
// What the program loaded, and which of it a kernel is.
#include <string>

#include "cuda/capture/driver.h"
#include "cuda/capture/program_ptx.h"

namespace palladion::cuda::capture {

enum class Owner : uint8_t { module, library };
// `owner`: the module or library that the driver made of `image`.
void loaded(Owner kind, Handle owner, const void* image);
void loaded_file(Owner kind, Handle owner, const char* path);
void unloaded(Handle owner);
std::string bytes_of_file(const char* path);  // empty: it cannot be read
// `part` (a function, kernel or module) belongs to `owner`.
void belongs(Handle part, Handle owner);

// The image of which a function was made: by what the program asked for, or as the driver knows it (nodes of
// graphs hold functions for which no program asked). Null: it is not known.
const LoadedImage* image_of(Handle function);

std::string name_of(Handle function);
std::string demangled(const std::string& name);

}  // namespace palladion::cuda::capture
