#pragma once
// One axis of an array as the lanes hold it: which bits of an index are bits of the thread's number.
#include <array>
#include <optional>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/core/recorder.h"

namespace palladion::frontend {

// An axis of 2^bits places, of which the first `size` are elements. A bit of a place is a bit of the thread's
// number, or belongs to the registers of a lane.
struct LineBits {
  int64_t size = 0;
  std::vector<int64_t> thread_mask;  // of each bit; 0: a register's
  int bits() const { return static_cast<int>(thread_mask.size()); }
  bool of_thread(int bit) const { return thread_mask[static_cast<size_t>(bit)] != 0; }
};

// Elements that lie along the axis, at the same place of all others: `places[i]` is the registers' part of a
// place, `elements[i]` which of the lane's elements is there; -1: none, behind the end.
struct Line {
  std::vector<int64_t> places;
  std::vector<int64_t> elements;
};

// An array as lines; an Error, naming `verb`, where its lanes do not hold the axis so.
struct Lines {
  LineBits bits;
  std::vector<Line> lines;
  bool padded = false;  // lanes behind the end hold copies
  // An element at each place of each lane.
  bool complete() const;
};
Lines lines_of(const plgpu::Array& x, int axis, std::string_view verb);

// The bit of the place is set, in this lane: an operand for thread bits.
Operand thread_bit(Recorder& r, const LineBits& bits, int bit);
// The place of an element of this lane, from the registers' part.
pl::Scalar place_of(Recorder& r, const LineBits& bits, int64_t registers_part);

// Of each value that of the lane whose number differs in `mask`: by shuffles, or through the scratch.
std::vector<Operand> from_partner(Recorder& r, pl::DType d, const std::vector<Operand>& values, int64_t mask);

// The lane's element at a place of a line; `instead` where there is none, or a copy.
Operand element_at(Recorder& r, const plgpu::Array& x, const Lines& lines, const Line& line, size_t i,
                   const std::vector<Operand>& elements, const Operand& instead);

// Elements of a padded array as its layout wants them: lanes behind the end repeat the last vector.
plgpu::Array with_copies(Recorder& r, const plgpu::Array& x);

}  // namespace palladion::frontend
