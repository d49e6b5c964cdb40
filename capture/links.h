#pragma once
// Programs that link at run time (cuLinkAddData, cuLinkComplete) load the machine code that comes out: the
// PTX that went in is kept.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/driver.h"

namespace palladion::capture {

// `type` is a CUjitInputType.
void link_input(Handle state, int type, const void* data, size_t bytes, const char* name);
void link_input_file(Handle state, int type, const char* path);
void link_completed(Handle state, const void* cubin, size_t bytes);
void link_destroyed(Handle state);

struct LinkInput {
  std::string name, text;  // no text: it is no PTX
};
// What these bytes were linked of; empty: it is not known.
std::vector<LinkInput> inputs_of_link(std::string_view cubin);

}  // namespace palladion::capture
