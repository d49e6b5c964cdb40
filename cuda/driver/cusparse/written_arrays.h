#pragma once
#include "cuda/driver/cusparse/entries.h"

namespace palladion::cuda::cusparse {

// The three arrays of a matrix that a call writes.
class WrittenArrays {
 public:
  WrittenArrays(Pieces& pieces, const Sparse& m)
      : m_(m),
        first_(pieces.add(Arrays::piece(m.first, m.firsts(), size_of(m.first_type), false, true))),
        second_(pieces.add(Arrays::piece(m.second, m.count, size_of(m.second_type), false, true))),
        values_(pieces.add(Arrays::piece(m.values, m.count, size_of(m.type), false, true))) {}

  // Of elements that are sorted by rows.
  template <class T>
  const char* write(void* const* views, std::vector<Entry<Wide<T>>>& entries) const {
    if (static_cast<int64_t>(entries.size()) != m_.count)
      return "the sparse matrix has room for another number of elements than there are";
    if (m_.format == Format::csc)
      std::ranges::stable_sort(entries, {}, [](const Entry<Wide<T>>& e) { return e.at.column; });
    int64_t line = 0;
    if (m_.format != Format::coo) set_index(m_.first_type, views[first_], 0, m_.base);
    for (int64_t i = 0; i < m_.count; ++i) {
      const Entry<Wide<T>>& e = entries[static_cast<size_t>(i)];
      const bool by_rows = m_.format != Format::csc;
      set_index(m_.second_type, views[second_], i, (by_rows ? e.at.column : e.at.row) + m_.base);
      static_cast<T*>(views[values_])[i] = static_cast<T>(e.value);
      if (m_.format == Format::coo) set_index(m_.first_type, views[first_], i, e.at.row + m_.base);
      for (; m_.format != Format::coo && line < (by_rows ? e.at.row : e.at.column); ++line)
        set_index(m_.first_type, views[first_], line + 1, i + m_.base);
    }
    for (; m_.format != Format::coo && line < m_.lines(); ++line)
      set_index(m_.first_type, views[first_], line + 1, m_.count + m_.base);
    return nullptr;
  }

 private:
  Sparse m_;
  int first_, second_, values_;
};

}  // namespace palladion::cuda::cusparse
