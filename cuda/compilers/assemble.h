#pragma once
// What stands in for ptxas and nvlink: PTX is parsed and verified for a chip, and becomes a cubin that
// carries it.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace palladion::cuda::compilers {

// The newest PTX that frameworks are asked to write, and the toolkit that brought it.
inline constexpr int newest_major = 9, newest_minor = 0;
inline constexpr const char* toolkit_release = "13.0";

struct Source {
  std::string name, ptx;
};
struct Options {
  std::string target;  // sm_90a; empty: the text's own
  bool fmad = true;    // whether sums and products may be contracted
  int registers = 0;   // a thread's at most (-maxrregcount); 0: no limit
};
// As ptxas has it: the place and a sentence.
struct Fault {
  std::string file;
  uint32_t line = 0;  // 0: of the whole text
  std::string message;
};
// Several sources are linked. One keeps its text: comments, lines.
tl::expected<std::string, std::vector<Fault>> assemble(std::span<const Source> sources,
                                                       const Options& options);

// Sums and products of floats without a rounding mode get `.rn`, which forbids to contract them (PTX, "add").
std::string without_contraction(std::string_view ptx);

// Entries get `.maxnreg`, but for those that have launch bounds, which come before the option (nvcc's manual,
// "--maxrregcount"). Lines stay as they are.
std::string with_register_limit(std::string_view ptx, int registers);

// "ptxas k.ptx, line 7; error   : unknown instruction", each with its line end.
std::string text_of(std::span<const Fault> faults, std::string_view tool);

}  // namespace palladion::cuda::compilers
