#pragma once
// The elements of a sparse matrix, read from the memory of its three arrays.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "cuda/driver/cusparse/handle.h"

namespace palladion::cuda::cusparse {

inline int64_t index_at(Index type, const void* view, int64_t i) {
  switch (type) {
    case Index::u16:
      return static_cast<const uint16_t*>(view)[i];
    case Index::i32:
      return static_cast<const int32_t*>(view)[i];
    case Index::i64:
      return static_cast<const int64_t*>(view)[i];
  }
  return 0;
}
inline void set_index(Index type, void* view, int64_t i, int64_t value) {
  if (type == Index::u16)
    static_cast<uint16_t*>(view)[i] = static_cast<uint16_t>(value);
  else if (type == Index::i32)
    static_cast<int32_t*>(view)[i] = static_cast<int32_t>(value);
  else
    static_cast<int64_t*>(view)[i] = value;
}

template <class W>
W conjugate(const W& x) {
  if constexpr (is_complex<W>)
    return std::conj(x);
  else
    return x;
}

struct Place {
  int64_t row = 0, column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
template <class W>
struct Entry {
  Place at;
  W value{};
};

constexpr const char* bad_offsets =
    "the offsets of a sparse matrix do not ascend from its base to its number of elements";
constexpr const char* bad_index = "an index of a sparse matrix lies outside of it";

// The three arrays of a matrix among the pieces of a call.
class Arrays {
 public:
  Arrays(Pieces& pieces, const Sparse& m, bool reads_values = true, bool writes_values = false) : m_(m) {
    first_ = pieces.add(piece(m.first, m.firsts(), size_of(m.first_type), true, false));
    second_ = pieces.add(piece(m.second, m.count, size_of(m.second_type), true, false));
    if (reads_values || writes_values)
      values_ = pieces.add(piece(m.values, m.count, size_of(m.type), reads_values, writes_values));
  }
  // f(place, number in the arrays) for each element, as they lie; what is wrong with the matrix.
  template <class F>
  const char* for_each(void* const* views, F f) const {
    if (m_.format == Format::coo) {
      for (int64_t i = 0; i < m_.count; ++i)
        if (!give(f, index_at(m_.first_type, views[first_], i) - m_.base, views, i)) return bad_index;
      return nullptr;
    }
    int64_t end = m_.base;
    for (int64_t line = 0; line <= m_.lines(); ++line) {
      const int64_t next = index_at(m_.first_type, views[first_], line);
      if (next < end || next > m_.count + m_.base || (line == 0 && next != m_.base)) return bad_offsets;
      for (int64_t i = end; i < next; ++i)
        if (!give(f, line - 1, views, i - m_.base)) return bad_index;
      end = next;
    }
    return nullptr;
  }
  void* values(void* const* views) const { return values_ < 0 ? nullptr : views[values_]; }

  static Piece piece(const void* at, int64_t count, size_t bytes, bool reads, bool writes) {
    return {at, static_cast<size_t>(count) * bytes, 1, 0, reads, writes};
  }

 private:
  template <class F>
  bool give(F& f, int64_t line, void* const* views, int64_t i) const {
    Place at{line, index_at(m_.second_type, views[second_], i) - m_.base};
    if (m_.format == Format::csc) std::swap(at.row, at.column);
    if (at.row < 0 || at.row >= m_.rows || at.column < 0 || at.column >= m_.columns) return false;
    return f(at, i), true;
  }

  Sparse m_;
  int first_ = -1, second_ = -1, values_ = -1;
};

// Elements of op(A), in f64.
template <class T>
const char* read_entries(const Arrays& arrays, void* const* views, int operation,
                         std::vector<Entry<Wide<T>>>& out) {
  const auto* const values = static_cast<const T*>(arrays.values(views));
  return arrays.for_each(views, [&](Place at, int64_t i) {
    auto value = static_cast<Wide<T>>(values[i]);
    if (operation == conjugate_transposed) value = conjugate(value);
    if (operation != as_it_is) std::swap(at.row, at.column);
    out.push_back({at, value});
  });
}

// Sorted by rows, then columns; elements at one place are added.
template <class W>
void sum_duplicates(std::vector<Entry<W>>& entries) {
  std::ranges::stable_sort(entries, {}, &Entry<W>::at);
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i)
    if (kept != 0 && entries[kept - 1].at == entries[i].at)
      entries[kept - 1].value += entries[i].value;
    else
      entries[kept++] = entries[i];
  entries.resize(kept);
}

}  // namespace palladion::cuda::cusparse
