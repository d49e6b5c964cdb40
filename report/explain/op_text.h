// PTX instructions for `palladion explain`, as the table of operations states them.
#pragma once

#include <string>
#include <string_view>

#include "isa/core/op.h"

namespace palladion::report {

// The operation of a word, which may have modifiers: wgmma of "wgmma.mma_async.sync". Null: there is none.
const isa::Op* op_of(std::string_view word);

// Its forms with operands, targets, units and latencies. Modifiers behind the operation's name in `word`
// choose among its forms, when any form has them.
std::string op_text(const isa::Op& op, std::string_view word);

}  // namespace palladion::report
