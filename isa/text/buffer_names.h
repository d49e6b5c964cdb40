#pragma once
// Module::buffers in PTX text: a comment a name, which ptxas skips and parse() reads back.
//   //@buffer palladion_smem+131072 32 mbarrier[4] full
#include <string>
#include <string_view>

#include "isa/core/module.h"

namespace palladion::isa {

std::string buffer_comments(const Module& module);

// Appends the names that comments of `text` state to module.buffers. A comment that is not of this form, or
// whose symbol does not exist, is a comment.
void read_buffer_comments(std::string_view text, Module& module);

}  // namespace palladion::isa
