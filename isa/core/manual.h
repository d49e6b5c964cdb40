#pragma once
// The instructions that the PTX manual names, so that each has forms here or is refused by its name.
#include <span>
#include <string_view>
#include <vector>

#include "isa/core/op.h"

namespace palladion::isa {

// A section of the chapter "Instructions" and the titles of its subsections: "mbarrier.arrive".
struct ManualSection {
  std::string_view title;
  std::vector<std::string_view> instructions;
};

// PTX 9.1, in the manual's order. A name that several sections have (`add`) stands in each. Compared with the
// table of contents of the manual of 9.4; what that has besides came later: multimem.st.async,
// multimem.red.async, applypriority.async.bulk, spcompress, spdecompress, fabric.*, mbarrier.check_layout.
std::span<const ManualSection> manual();

// The forms that state it; of `cp.async.bulk` not those of `cp.async.bulk.tensor`.
std::vector<const Form*> forms_of(std::string_view instruction);

// The manual's instruction without a form that a mnemonic, "multimem.cp.async.bulk.global...", belongs to;
// empty: none.
std::string_view unstated_instruction(std::string_view mnemonic);

}  // namespace palladion::isa
