// The PTX that a cubin carries. One that was assembled with line information holds the whole text in its
// section .nv_debug_ptx_txt (one that was linked: a section an object, .nv_debug_ptx_txt.NUMBER): each line
// ended by a zero, without what it began with of white space, comments, .loc and .file, whose lines are
// empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace palladion::cuda::cubin {

inline constexpr std::string_view ptx_section = ".nv_debug_ptx_txt";
// How bundles name such PTX.
inline constexpr std::string_view carried_source = "the machine code, which carries it";

// The texts; several: of the objects that it was linked from. Lines keep their numbers. The .loc are taken
// from the tables of lines where the text has none: `.loc` of a line that left no code is not known. The
// error is a sentence: the file is broken, or has no PTX.
tl::expected<std::vector<std::string>, std::string> ptx_of(std::string_view cubin);

// Of them the one that has a kernel, and those with which it was linked.
struct KernelPtx {
  std::string text;
  std::vector<std::string> linked;
};
tl::expected<KernelPtx, std::string> ptx_with(std::string_view cubin, std::string_view entry);
// Whether a text of PTX has a kernel of this name.
bool has_entry(std::string_view ptx, std::string_view entry);

// What of a text machine code keeps: its statements, a line each, without comments, .loc, .file and the contents of
// debug sections. Two texts are the same but for these where it is equal.
std::string statements_of(std::string_view ptx);

// How machine code is made that carries its PTX: in the frameworks that this process has loaded, else in all.
std::string ways_to_carry();

// A cubin without machine code that carries this text as it is, with its .loc and comments.
std::string carry(std::string_view ptx);

}  // namespace palladion::cuda::cubin
