#pragma once
// PTX text of a module: what ptxas accepts, and what parse() reads back with the same meaning.
#include <string>

#include "isa/core/module.h"

namespace palladion::isa {

struct PrintOptions {
  // .file and .loc, where the module has files.
  bool source_lines = true;
  // Also where it does not (a recorded kernel): the files are those of Module::frames.
  bool collect_files = false;
  // The names of Module::buffers, as comments (isa/text/buffer_names.h).
  bool buffer_names = false;
};

std::string print(const Module& module, const PrintOptions& options = {});
// One instruction without its end of line, as for a report: "@%p1 add.s32 %r1, %r2, 5;"
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace palladion::isa
