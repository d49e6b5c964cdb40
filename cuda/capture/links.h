#pragma once
// Programs that link at run time (cuLinkAddData, cuLinkComplete; nvJitLink) load the machine code that comes
// out: the PTX that went in is kept.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/capture/driver.h"

namespace palladion::cuda::capture {

// `state`: the linker's. `type` is a CUjitInputType.
void link_input(Handle state, int type, const void* data, size_t bytes, const char* name);
void link_input_file(Handle state, int type, const char* path);
void link_completed(Handle state, const char* linker, const void* cubin, size_t bytes);
void link_destroyed(Handle state);

struct LinkInput {
  std::string name, text;  // no text: it is no PTX
};
struct LinkInputs {
  std::string linker;  // "cuLink"
  std::vector<LinkInput> all;
};
// What these bytes were linked of; empty: it is not known.
LinkInputs inputs_of_link(std::string_view cubin);

// What dlsym answers for this function of libnvJitLink; null: it is none that is followed.
void* nvjitlink_hook(void* library, const char* name);

}  // namespace palladion::cuda::capture
