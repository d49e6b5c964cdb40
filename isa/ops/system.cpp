// Registers granted to warps, dependent grids, the local stack (PTX, "Miscellaneous Instructions", "Parallel
// Synchronization and Communication Instructions", "Stack Manipulation Instructions").
#include <fmt/format.h>

#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint SetMaxRegisters::footprint() const {
  return {.participants = Participants::warpgroup,
          .sync = {.object = Sync::Object::registers, .arrives = !increase, .waits = increase}};
}

Footprint GridDependency::footprint() const {
  return {.sync = {.object = Sync::Object::grid, .arrives = !wait, .waits = wait}};
}

// The stack's place and the addresses on it are the thread's own.
Footprint Stack::footprint() const { return {.control = {value}}; }

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

constexpr Timing stack_timing{Unit::alu, "stack"};

Effect setmaxnreg(const Instruction& i, const DecodeContext& context) {
  const int count = decode::immediate(i, "count");
  if (!setmaxnreg_takes(context.arch, count))
    return decode::unsupported(i, fmt::format("the register count is a multiple of {} from {} to {}",
                                              context.arch.register_unit_per_thread,
                                              context.arch.min_setmaxnreg, context.arch.max_setmaxnreg));
  return SetMaxRegisters{.increase = i.mod("action") == "inc", .count = count};
}

Effect griddepcontrol(const Instruction& i, const DecodeContext&) {
  return GridDependency{.wait = i.mod("action") == "wait"};
}

Effect stack_alloca(const Instruction& i, const DecodeContext&) {
  Stack e{.action = StackAction::allocate, .dst = decode::index(i, "d"), .value = decode::index(i, "size")};
  if (i.operand("align") != nullptr) e.align = static_cast<uint32_t>(decode::immediate(i, "align"));
  if (e.align == 0 || (e.align & (e.align - 1)) != 0)
    return decode::unsupported(i, "the alignment is no power of two");
  return e;
}
Effect stacksave(const Instruction& i, const DecodeContext&) {
  return Stack{.action = StackAction::save, .dst = decode::index(i, "d")};
}
Effect stackrestore(const Instruction& i, const DecodeContext&) {
  return Stack{.action = StackAction::restore, .value = decode::index(i, "a")};
}

std::vector<OpDef> machine_defs() {
  return {
      OpDef{"setmaxnreg",
            "Takes more registers from the CTA's pool for each thread of the warpgroup, waiting for them, or "
            "gives some "
            "back. Miscellaneous Instructions: setmaxnreg.",
            {"[8.0 sm_90a|sm_100f|sm_110f|sm_120f] setmaxnreg.action:inc|dec.sync.aligned.u32 "
             "count:imm[24..256/8]"},
            Timing{Unit::sync, "setmaxnreg"},
            setmaxnreg},
      OpDef{"griddepcontrol",
            "Lets dependent grids start, or waits for the grids that this one depends on. Parallel "
            "Synchronization and "
            "Communication Instructions: griddepcontrol.",
            {"[7.8 sm_90] griddepcontrol.action:launch_dependents|wait"},
            Timing{Unit::sync, "griddepcontrol"},
            griddepcontrol},
      OpDef{"alloca",
            "Takes local memory from the thread's stack. Stack Manipulation Instructions: alloca.",
            {"[7.3 sm_52] alloca.type:u32|u64 =d:type, size:type, align?:imm"},
            stack_timing,
            stack_alloca},
      OpDef{"stacksave",
            "Reads the stack pointer. Stack Manipulation Instructions: stacksave.",
            {"[7.3 sm_52] stacksave.type:u32|u64 =d:type"},
            stack_timing,
            stacksave},
      OpDef{"stackrestore",
            "Sets the stack pointer. Stack Manipulation Instructions: stackrestore.",
            {"[7.3 sm_52] stackrestore.type:u32|u64 a:type"},
            stack_timing,
            stackrestore},
  };
}

}  // namespace

std::vector<OpDef> system() { return machine_defs(); }

}  // namespace palladion::isa::ops
