#pragma once
// A pair in one .ptx file: the annotated text of both twins and, behind it, what is known of the pair and how
// it is launched (docs/howto/zoo.md states the form).
#include <string>
#include <string_view>

#include "kernels/zoo/zoo.h"

namespace palladion::kernels::zoo {

// One file of the zoo, as CMake embeds it (cmake/ZooFiles.cmake).
struct PtxFile {
  std::string_view name, text;
};

Pair ptx_pair(const PtxFile& file);

// The text of one twin: lines that end in `//! broken` are only in the broken twin, lines that end in
// `//! good` only in the good one. The other twin has an empty line there: both number their lines alike.
std::string twin_text(std::string_view text, bool broken);

}  // namespace palladion::kernels::zoo
