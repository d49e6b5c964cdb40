// Control flow (PTX, "Control Flow Instructions" and "Miscellaneous Instructions").
#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint Branch::footprint() const { return {.next = Control::branches}; }
Footprint BranchIndexed::footprint() const { return {.control = {index}, .next = Control::branches}; }
Footprint Call::footprint() const { return {.control = {function}, .next = Control::calls}; }
Footprint Return::footprint() const { return {.next = Control::returns}; }
Footprint Exit::footprint() const { return {.next = Control::exits}; }
Footprint Trap::footprint() const { return {.next = Control::traps}; }
Footprint Nanosleep::footprint() const { return {.control = {duration}}; }

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

constexpr Timing branch_timing{Unit::branch, "branch"};
constexpr Timing exit_timing{Unit::branch, "exit"};

Effect bra(const Instruction& i, const DecodeContext&) {
  return Branch{.target = index(i, "target"), .uniform = i.has("uni")};
}

Effect brx(const Instruction& i, const DecodeContext&) {
  return BranchIndexed{.index = index(i, "index"), .targets = index(i, "targets"), .uniform = i.has("uni")};
}

Effect call(const Instruction& i, const DecodeContext&) {
  return Call{
      .function = index(i, "function"), .returns = index(i, "returns"), .arguments = index(i, "arguments")};
}

Effect ret(const Instruction&, const DecodeContext&) { return Return{}; }
Effect exit(const Instruction&, const DecodeContext&) { return Exit{}; }
Effect trap(const Instruction&, const DecodeContext&) { return Trap{}; }
Effect brkpt(const Instruction&, const DecodeContext&) { return Trap{.breakpoint = true}; }
Effect nanosleep(const Instruction& i, const DecodeContext&) { return Nanosleep{.duration = index(i, "t")}; }
// A performance counter's event: nothing that a program can see.
Effect pmevent(const Instruction&, const DecodeContext&) { return Prefetch{.address = -1}; }

}  // namespace

std::vector<OpDef> control() {
  return {
      OpDef{"bra",
            "Continues at a label; `.uni` promises that all active threads of the warp agree. "
            "Control Flow Instructions: bra.",
            {"bra{.uni} target:label"},
            branch_timing,
            bra,
            Operation::branch},
      OpDef{"brx",
            "Continues at the label whose number in the `.branchtargets` list is the index. "
            "Control Flow Instructions: brx.idx.",
            {"[6.0 sm_30] brx.idx{.uni} index:u32, targets:list"},
            branch_timing,
            brx,
            Operation::branch_indexed},
      OpDef{"call",
            "Calls a function by name, or through a register with a prototype or a list of targets; the "
            "lists of "
            "returns and arguments may be empty. Control Flow Instructions: call.",
            {"call{.uni} =returns:list, function:func, arguments:list, prototype?:list"},
            Timing{Unit::branch, "call"},
            call,
            Operation::call},
      OpDef{"ret",
            "Returns from a function; in a kernel it ends the thread. Control Flow Instructions: ret.",
            {"ret{.uni}"},
            branch_timing,
            ret,
            Operation::return_},
      OpDef{"exit",
            "Ends the thread. Control Flow Instructions: exit.",
            {"exit"},
            exit_timing,
            exit,
            Operation::exit},
      OpDef{"trap",
            "Aborts the grid and reports it to the host. Miscellaneous Instructions: trap.",
            {"trap"},
            exit_timing,
            trap,
            Operation::trap},
      OpDef{"brkpt",
            "Suspends the grid for a debugger. Miscellaneous Instructions: brkpt.",
            {"[1.0 sm_11] brkpt"},
            exit_timing,
            brkpt},
      OpDef{"nanosleep",
            "Suspends the thread for about t nanoseconds: between 0 and 2 t, at most 1 ms. "
            "Miscellaneous Instructions: nanosleep.",
            {"[6.3 sm_70] nanosleep.u32 t:u32"},
            Timing{Unit::sync, "nanosleep"},
            nanosleep},
      OpDef{"pmevent",
            "Triggers performance monitor events. Miscellaneous Instructions: pmevent.",
            {"[1.4] pmevent event:imm[0..65535]", "[3.0 sm_20] pmevent.mask event:imm[0..65535]"},
            Timing{Unit::none, "none"},
            pmevent},
  };
}

}  // namespace palladion::isa::ops
