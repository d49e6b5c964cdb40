#pragma once
// The author's mistakes: a code, a sentence in the author's words, the author's line, what to do.
#include <source_location>
#include <string>
#include <utility>

#include "isa/core/diagnostic.h"

namespace palladion::frontend {

using Loc = std::source_location;

// A text, and the line where the author wrote it.
struct TextAt {
  std::string text;
  Loc loc;
  TextAt(const char* t, Loc l = Loc::current()) : text(t), loc(l) {}  // NOLINT: implicit on purpose
  TextAt(std::string t, Loc l = Loc::current()) : text(std::move(t)), loc(l) {}  // NOLINT
};

// A number, and the line where the author wrote it.
struct IndexAt {
  size_t index;
  Loc loc;
  IndexAt(size_t i, Loc l = Loc::current()) : index(i), loc(l) {}  // NOLINT: implicit on purpose
};

// PLD20xx shapes, dtypes and layouts; PLD21xx references, slices and transforms; PLD22xx barriers and
// semaphores; PLD23xx copies; PLD24xx matrix products; PLD25xx kernels, meshes and resources;
// PLD26xx control flow and scopes; PLD27xx pipelines; PLD28xx PTX text.
enum class Code : int {
  no_kernel = 2501,
  bad_mesh = 2502,
  unknown_axis = 2503,
  too_much_smem = 2504,
  too_many_threads = 2505,
  duplicate_name = 2506,
  unknown_name = 2507,
  bad_type = 2508,
  bad_registers = 2509,
  bad_grid = 2510,
  shape_mismatch = 2001,
  dtype_mismatch = 2002,
  layout_mismatch = 2003,
  layout_shape = 2004,
  bad_axis = 2005,
  bad_conversion = 2006,
  no_scratch = 2007,
  unsupported_dtype = 2008,
  bad_shape = 2009,
  bad_index = 2101,
  out_of_bounds = 2102,
  unaligned_slice = 2103,
  swizzled_slice = 2104,
  bad_transform = 2105,
  bad_reshape = 2106,
  bad_space = 2107,
  bad_transpose = 2108,
  bank_conflicts = 2109,
  bad_barrier = 2201,
  barrier_index = 2202,
  too_many_barriers = 2203,
  bad_semaphore = 2204,
  copy_mismatch = 2301,
  no_barrier = 2302,
  copy_limits = 2303,
  bad_collective = 2304,
  bad_reduction = 2305,
  mma_shape = 2401,
  mma_dtype = 2402,
  mma_transform = 2403,
  bad_accumulator = 2404,
  bad_carry = 2601,
  bad_scope = 2602,
  left_region = 2603,
  outer_assigned = 2604,
  other_kernel = 2605,
  not_known = 2606,
  endless = 2607,
  bad_warp = 2608,
  bad_pipeline = 2701,
  bad_block_spec = 2702,
  bad_inline_ptx = 2801,
  not_supported = 2999,
};

inline isa::SourceLoc place(const Loc& loc) { return {loc.file_name(), loc.line(), loc.column()}; }

// "kernel.cpp:12", for a second place that a message names.
std::string short_place(const Loc& loc);

// Throws an isa::Error whose what() is the whole diagnostic: code, sentence, line with a caret, help.
[[noreturn]] void fail(Code code, std::string message, const Loc& loc, std::string help = {});
[[noreturn]] void fail(Code code, std::string message, const isa::SourceLoc& loc, std::string help);
// The line of the verb that is being recorded, or was recorded last.
const Loc& last_verb();
// `loc`, where no verb is being recorded; else the verb's line: `loc` is then its implementation's.
const Loc& author_line(const Loc& loc);
// At that line.
[[noreturn]] void fail(Code code, std::string message, std::string help = {});
// What the frontend does not do (yet), by name.
[[noreturn]] void unsupported(std::string what, std::string help = {});

}  // namespace palladion::frontend
