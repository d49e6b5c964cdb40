// Tables of lines, DWARF 2 with NVIDIA's operations for inlined calls: `.debug_line` gives the author's line
// of each address of the code, `.nv_debug_line_sass` the line of the PTX.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::cuda::cubin {

struct LineRow {
  uint64_t address = 0;  // in the code of its sequence
  uint32_t file = 0;     // of its unit, from 1
  uint32_t line = 0;
  uint32_t context = 0;   // the row of the sequence, from 1, where this was inlined; 0: it was not
  uint32_t function = 0;  // offset of the inlined function's name in .debug_str
};
// The code of one function.
inline constexpr uint64_t no_code = 0;  // it was not linked
struct LineSequence {
  uint64_t code = no_code;  // which one: the same number in the tables of one cubin
  std::vector<LineRow> rows;
};
struct LineUnit {
  std::vector<std::string> files;
  std::vector<LineSequence> sequences;
};
// Of a section and its relocations. What cannot be read is left out.
std::vector<LineUnit> line_table(std::string_view section, std::string_view relocations);

}  // namespace palladion::cuda::cubin
