// PTX instructions for `palladion explain`, as the table of operations states them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/core/op.h"

namespace palladion::report {

// The operation of a word: "wgmma.mma_async.sync..." names wgmma.mma_async, else wgmma. Null: there is none.
const isa::Op* op_of(std::string_view word);
// Those whose names continue the word: wgmma.fence of "wgmma".
std::vector<const isa::Op*> ops_beginning_with(std::string_view word);

// Its forms with operands, targets, units and latencies. Modifiers behind the operation's name in `word`
// choose among its forms, when any form has them.
std::string op_text(const isa::Op& op, std::string_view word);

}  // namespace palladion::report
