#pragma once
// What the kernels in PTX have in common: one entry that reads floats and writes floats, and texts that
// several pairs vary by a line.
#include <string>
#include <string_view>

#include "zoo/zoo.h"

namespace palladion::zoo {

// An entry with the parameters `src` and `dst`, arrays of f32, whose global addresses are in %src and %dst
// when `body` starts; %t is the thread in its CTA, %lane the lane, %warp the warp. For the body's own use:
// %p<8>, %r<24>, %rd<16>, %f<16>. `shared` declares variables, `directives` stand behind the parameters.
std::string entry_text(std::string_view shared, std::string_view body, std::string_view directives = "");

// Launches a pair over `src`, which holds 0, 1, 2, ..., and `dst`, which holds poison.
Pair floats_pair(PtxPair pair, int64_t in, int64_t out);

// A text some of whose lines are changed; a line is named by its words and must be there once.
class Varied {
 public:
  explicit Varied(std::string text) : text_(std::move(text)) {}
  // `line` is `broken` in the broken twin (several lines, or none when it is empty).
  Varied& breaks(std::string_view line, std::string_view broken);
  // The broken twin has `broken` in front of `line`.
  Varied& adds_before(std::string_view line, std::string_view broken);
  // `line`, of one or both twins, carries `// @number`.
  Varied& mark(std::string_view line, int number);
  operator std::string() const { return text_; }  // NOLINT: implicit on purpose

 private:
  size_t find(std::string_view line) const;
  std::string text_;
};

// --- kernels that are varied ------------------------------------------------------------------------
// Warp 0 loads six tiles of 64 floats through two slots, warps 1 and 2 copy them to dst. 96 threads.
std::string ring_text();
// The same tiles and slots; 64 threads copy each, one of them loads the next into its slot when all have.
std::string prefetch_text();
// A thread loads one tile of 64 floats, 64 threads double it.
std::string load_text();
// A thread loads two tiles of 64 floats, 64 threads add them.
std::string two_loads_text();

}  // namespace palladion::zoo
