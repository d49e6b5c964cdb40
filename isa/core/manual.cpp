#include "isa/core/manual.h"

#include <algorithm>

namespace palladion::isa {
namespace {

// "cp", "async", "bulk"
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t dot = name.find('.');
    words.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    name.remove_prefix(dot + 1);
  }
}

// Some word of the slot is `word`, or begins with it: `sp::ordered_metadata`.
bool has(const SlotDef& slot, std::string_view word) {
  return std::ranges::any_of(slot.words, [&](std::string_view w) {
    return w == word || (w.starts_with(word) && w.substr(word.size()).starts_with("::"));
  });
}

// The form takes the words of the name, in this order; `always`: it cannot be written without them.
bool takes(const Form& form, std::string_view name, bool always) {
  const std::vector<std::string_view> words = words_of(name);
  if (form.op != words.front()) return false;
  size_t taken = 1;
  for (const SlotDef& slot : form.slots)
    if (taken < words.size() && has(slot, words[taken]) &&
        (!always || (!slot.optional && slot.words.size() == 1)))
      ++taken;
  return taken == words.size();
}

// Names of the manual that go on where this one ends.
std::vector<std::string_view> longer_names(std::string_view name) {
  std::vector<std::string_view> longer;
  for (const ManualSection& s : manual())
    for (const std::string_view n : s.instructions)
      if (n.size() > name.size() && words_of(n).front() == words_of(name).front()) longer.push_back(n);
  return longer;
}

}  // namespace

std::span<const ManualSection> manual() {
  static const std::vector<ManualSection> sections = {
      {"Integer Arithmetic",
       {"add", "sub",  "mul", "mad",   "mul24", "mad24", "sad", "div", "rem",   "abs",  "neg",  "min",
        "max", "popc", "clz", "bfind", "fns",   "brev",  "bfe", "bfi", "szext", "bmsk", "dp4a", "dp2a"}},
      {"Extended-Precision Integer Arithmetic", {"add.cc", "addc", "sub.cc", "subc", "mad.cc", "madc"}},
      {"Floating Point",
       {"testp",
        "copysign",
        "add",
        "sub",
        "mul",
        "fma",
        "mad",
        "div",
        "abs",
        "neg",
        "min",
        "max",
        "rcp",
        "rcp.approx.ftz.f64",
        "sqrt",
        "rsqrt",
        "rsqrt.approx.ftz.f64",
        "sin",
        "cos",
        "lg2",
        "ex2",
        "tanh"}},
      {"Half Precision Floating Point",
       {"add", "sub", "mul", "fma", "neg", "abs", "min", "max", "tanh", "ex2"}},
      {"Mixed Precision Floating Point", {"add", "sub", "fma"}},
      {"Comparison and Selection", {"set", "setp", "selp", "slct"}},
      {"Half Precision Comparison", {"set", "setp"}},
      {"Logic and Shift", {"and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr"}},
      {"Data Movement and Conversion",
       {"mov",
        "shfl",
        "shfl.sync",
        "prmt",
        "ld",
        "ld.global.nc",
        "ldu",
        "st",
        "st.async",
        "st.bulk",
        "multimem.ld_reduce",
        "multimem.st",
        "multimem.red",
        "prefetch",
        "prefetchu",
        "applypriority",
        "discard",
        "createpolicy",
        "isspacep",
        "cvta",
        "cvt",
        "cvt.pack",
        "mapa",
        "getctarank"}},
      {"Data Movement and Conversion: Asynchronous copy",
       {"cp.async", "cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all", "cp.async.bulk",
        "cp.reduce.async.bulk", "cp.async.bulk.prefetch", "multimem.cp.async.bulk",
        "multimem.cp.reduce.async.bulk", "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor",
        "cp.async.bulk.prefetch.tensor", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group",
        "tensormap.replace"}},
      {"Texture", {"tex", "tld4", "txq", "istypep"}},
      {"Surface", {"suld", "sust", "sured", "suq"}},
      {"Control Flow", {"bra", "brx.idx", "call", "ret", "exit"}},
      {"Parallel Synchronization and Communication",
       {"bar",
        "barrier",
        "bar.warp.sync",
        "barrier.cluster",
        "membar",
        "fence",
        "atom",
        "red",
        "red.async",
        "vote",
        "vote.sync",
        "match.sync",
        "activemask",
        "redux.sync",
        "griddepcontrol",
        "elect.sync",
        "mbarrier.init",
        "mbarrier.inval",
        "mbarrier.expect_tx",
        "mbarrier.complete_tx",
        "mbarrier.arrive",
        "mbarrier.arrive_drop",
        "cp.async.mbarrier.arrive",
        "mbarrier.test_wait",
        "mbarrier.try_wait",
        "mbarrier.pending_count",
        "tensormap.cp_fenceproxy",
        "clusterlaunchcontrol.try_cancel",
        "clusterlaunchcontrol.query_cancel"}},
      {"Warp Level Matrix Multiply-Accumulate",
       {"wmma.load", "wmma.store", "wmma.mma", "mma", "mma.sp", "ldmatrix", "stmatrix", "movmatrix"}},
      {"Asynchronous Warpgroup Level Matrix Multiply-Accumulate",
       {"wgmma.mma_async", "wgmma.mma_async.sp", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group"}},
      {"TensorCore 5th Generation Family",
       {"tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit", "tcgen05.ld", "tcgen05.ld.red",
        "tcgen05.st", "tcgen05.wait", "tcgen05.cp", "tcgen05.shift", "tcgen05.mma", "tcgen05.mma.sp",
        "tcgen05.mma.ws", "tcgen05.mma.ws.sp", "tcgen05.fence", "tcgen05.commit"}},
      {"Stack Manipulation", {"stacksave", "stackrestore", "alloca"}},
      {"Video", {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"}},
      {"SIMD Video",
       {"vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4", "vavrg4",
        "vabsdiff4", "vmin4", "vmax4", "vset4"}},
      {"Miscellaneous", {"brkpt", "nanosleep", "pmevent", "trap", "setmaxnreg"}}};
  return sections;
}

std::vector<const Form*> forms_of(std::string_view instruction) {
  std::vector<const Form*> forms;
  const Op* const op = find_op(words_of(instruction).front());
  if (op == nullptr) return forms;
  const std::vector<std::string_view> longer = longer_names(instruction);
  for (const Form& form : op->forms) {
    const bool belongs_to_longer =
        std::ranges::any_of(longer, [&](std::string_view n) { return takes(form, n, true); });
    if (takes(form, instruction, false) && !belongs_to_longer) forms.push_back(&form);
  }
  return forms;
}

std::string_view unstated_instruction(std::string_view mnemonic) {
  for (const ManualSection& s : manual())
    for (const std::string_view n : s.instructions) {
      const bool begins =
          mnemonic.starts_with(n) && (mnemonic.size() == n.size() || mnemonic[n.size()] == '.');
      if (begins && forms_of(n).empty()) return n;
    }
  return {};
}

}  // namespace palladion::isa
