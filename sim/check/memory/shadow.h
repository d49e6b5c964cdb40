#pragma once
// Shadow memory: for every byte its last write and the reads since; and earlier accesses that are weaker than
// the last write: a strong one does not race with others, which may race with them. One cell covers 16 bytes
// while they share their history; it is split into bytes when they do not.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/check/order/history.h"

namespace palladion::sim::check {

inline constexpr uint32_t granule = 16;

struct Cell {
  Ref write = 0;
  Ref read[2] = {0, 0};
  uint32_t more = 0;  // split: block; else 1 + index of a list of further reads; 0: none

  static constexpr uint32_t split_bit = 1U << 31;
  // Among the reads are writes: earlier ones, which are weaker than the last.
  static constexpr uint32_t writes_bit = 1U << 30;
  static constexpr uint32_t index_bits = writes_bit - 1;
  bool split() const { return (more & split_bit) != 0; }
  bool has_writes() const { return (more & writes_bit) != 0; }
  bool has_list() const { return !split() && (more & index_bits) != 0; }
  friend bool operator==(const Cell& a, const Cell& b) {  // the innermost loop: compilers compare words
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};

// The cells' overflow: lists of reads and blocks of bytes, with free lists. One for each shadow memory.
class CellPool {
 public:
  using Block = std::array<Cell, granule>;

  Block& block(const Cell& c) { return *blocks_[c.more & Cell::index_bits]; }
  std::vector<Ref>& list(const Cell& c) { return lists_[(c.more & Cell::index_bits) - 1]; }
  // Gives each byte of the granule a cell of its own.
  void split(Cell& c);
  // One history again: `write` and no reads.
  void unite(Cell& c, Ref write);
  void add_read(Cell& c, Ref read);
  void clear_reads(Cell& c);

  // Calls visit(Ref&) for every reference of a cell, its own included.
  template <class Visit>
  void for_each_ref(Cell& c, Visit&& visit) {
    if (c.split()) {
      for (Cell& byte : block(c)) for_each_ref(byte, visit);
      return;
    }
    visit(c.write);
    visit(c.read[0]);
    visit(c.read[1]);
    if (c.has_list())
      for (Ref& r : list(c)) visit(r);
  }
  // The same of the reads of a cell that is not split.
  template <class Visit>
  void for_each_read(Cell& c, Visit&& visit) {
    for (Ref& r : c.read)
      if (r != 0) visit(r);
    if (c.has_list())
      for (Ref& r : list(c)) visit(r);
  }

 private:
  uint32_t new_list();

  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::vector<Ref>> lists_;
  std::vector<uint32_t> free_blocks_, free_lists_;
};

// Calls visit(granule's address, first byte, count, pattern) for each granule of a run of bytes that
// consecutive lanes touch in order, 2^size_log2 bytes each, from `lane` on; or all lanes all of it
// (every_lane).
template <class Visit>
void for_each_granule(uint64_t begin, uint64_t bytes, uint32_t size_log2, Lane lane, Visit&& visit) {
  const uint64_t end = begin + bytes;
  for (uint64_t at = begin / granule * granule; at < end; at += granule) {
    const uint64_t from = std::max(at, begin), to = std::min(at + granule, end);
    // The lane that touched the granule's byte 0, or would have.
    const auto zero =
        size_log2 == every_lane
            ? 0U
            : static_cast<uint32_t>(lane + (static_cast<int64_t>(at - begin) >> size_log2)) & 31;
    visit(at, static_cast<uint32_t>(from - at), static_cast<uint32_t>(to - from), size_log2 << 5 | zero);
  }
}

// Cells of one CTA's shared memory.
class SharedShadow {
 public:
  explicit SharedShadow(size_t bytes) : bytes_(bytes), cells_((bytes + granule - 1) / granule) {}
  size_t bytes() const { return bytes_; }
  Cell& cell(uint64_t address) { return cells_[address / granule]; }
  bool contains(uint64_t address) const { return address / granule < cells_.size(); }
  template <class Visit>
  void for_each_cell(Visit&& visit) {
    for (Cell& c : cells_) visit(c);
  }

 private:
  size_t bytes_;
  std::vector<Cell> cells_;
};

// Cells of GMEM, made where it is touched.
class GlobalShadow {
 public:
  static constexpr uint64_t page_bytes = 4096;
  Cell& cell(uint64_t address) { return cells(address).front(); }
  // From that of the address to the last one of its page.
  std::span<Cell> cells(uint64_t address);
  // The values that stores left in the 16 bytes of that cell.
  uint8_t* values(uint64_t address);
  // Visits one cell for all of a page that was united.
  template <class Visit>
  void for_each_cell(Visit&& visit) {
    for (auto& [at, page] : pages_) {
      if (page.cells == nullptr) {
        visit(page.all);
        continue;
      }
      for (Cell& c : *page.cells) visit(c);
    }
  }
  // Pages of equal cells without lists are kept as one cell.
  void unite_pages();
  size_t pages() const { return full_; }  // with a cell for each granule

 private:
  using Cells = std::array<Cell, page_bytes / granule>;
  using Values = std::array<uint8_t, page_bytes>;
  struct Page {
    std::unique_ptr<Cells> cells;  // null: all are `all`
    Cell all;
    std::unique_ptr<Values> values;  // null: no store whose values are known
  };
  Page& page(uint64_t at);
  std::unordered_map<uint64_t, Page> pages_;
  size_t full_ = 0;
  uint64_t last_at_ = ~0ULL;
  Page* last_ = nullptr;
};

// Records, by index; index 0 is none.
class Records {
 public:
  Record& operator[](uint32_t index) { return records_[index]; }
  const Record& operator[](uint32_t index) const { return records_[index]; }
  uint32_t add(Record r) {
    records_.push_back(std::move(r));
    return static_cast<uint32_t>(records_.size() - 1);
  }
  size_t size() const { return records_.size(); }
  // Drops the records that `for_each_ref(visit)` does not visit; references are renumbered.
  template <class ForEachRef>
  void collect(ForEachRef&& for_each_ref) {
    std::vector<uint32_t> moved(records_.size(), 0);
    for_each_ref([&](Ref& r) { moved[record_of(r)] = 1; });
    std::vector<Record> kept(1);
    for (uint32_t i = 1; i < moved.size(); ++i) {
      if (moved[i] == 0) continue;
      moved[i] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(records_[i]));
    }
    moved[0] = 0;
    for_each_ref([&](Ref& r) {
      if (r != 0) r = moved[record_of(r)] << 8 | (r & 0xFF);
    });
    records_ = std::move(kept);
  }

 private:
  std::vector<Record> records_{1};
};

}  // namespace palladion::sim::check
