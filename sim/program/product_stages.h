#pragma once
// What makes ptxas serialise the wgmmas of a kernel: between the issue of a wgmma and the wait for it,
// another instruction defines a register of A or of the accumulator, or reads the accumulator; or a call.
// tests/sim/ product_stages_test.cpp has what ptxas 13.0 says of each case.
#include <cstdint>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

struct StageBreak {
  enum class Kind : uint8_t {
    input_defined,        // C7513
    accumulator_read,     // C7514; C7517 where ptxas injects a wait instead
    accumulator_written,  // C7515
    call_of_products,     // C7510: of a function that has wgmmas
    call_of_extern,       // C7510, C7509: of a function that is elsewhere, in one with wgmmas
  };
  Kind kind = Kind::input_defined;
  Pc at;       // the other instruction
  Pc product;  // the wgmma; of a call: the first of the function
  uint32_t reg =
      isa::no_id;       // of the function that has `at`: which the other instruction names; none of a call
  bool copied = false;  // it becomes the wgmma's register by a mov, for which ptxas gives both one place
};

// By the text alone, each instruction once: of a function first the calls, then the others in their order.
// Which registers share a place is ptxas' choice: a case is a prediction.
std::vector<StageBreak> stage_breaks(const Program& program);

}  // namespace palladion::sim
