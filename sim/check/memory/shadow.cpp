#include "sim/check/memory/shadow.h"

namespace palladion::sim::check {

uint32_t CellPool::new_list() {
  if (free_lists_.empty()) {
    lists_.emplace_back();
    return static_cast<uint32_t>(lists_.size() - 1);
  }
  const uint32_t at = free_lists_.back();
  free_lists_.pop_back();
  return at;
}

void CellPool::split(Cell& c) {
  uint32_t at;
  if (free_blocks_.empty()) {
    at = static_cast<uint32_t>(blocks_.size());
    blocks_.push_back(std::make_unique<Block>());
  } else {
    at = free_blocks_.back();
    free_blocks_.pop_back();
  }
  for (Cell& byte : *blocks_[at]) {
    byte = {c.write, {c.read[0], c.read[1]}, c.more & Cell::writes_bit};
    if (!c.has_list()) continue;
    const uint32_t copy = new_list();
    lists_[copy] = list(c);
    byte.more |= copy + 1;
  }
  clear_reads(c);
  c = {0, {0, 0}, at | Cell::split_bit};
}

void CellPool::unite(Cell& c, Ref write) {
  if (c.split()) {
    for (Cell& byte : block(c)) clear_reads(byte);
    free_blocks_.push_back(c.more & Cell::index_bits);
  } else {
    clear_reads(c);
  }
  c = {write, {0, 0}, 0};
}

void CellPool::add_read(Cell& c, Ref read) {
  if (c.read[0] == 0) {
    c.read[0] = read;
  } else if (c.read[1] == 0) {
    c.read[1] = read;
  } else {
    if (!c.has_list()) c.more |= new_list() + 1;
    list(c).push_back(read);
  }
}

void CellPool::clear_reads(Cell& c) {
  c.read[0] = c.read[1] = 0;
  if (c.split()) return;
  if (c.has_list()) {
    list(c).clear();
    free_lists_.push_back((c.more & Cell::index_bits) - 1);
  }
  c.more = 0;
}

void GlobalShadow::unite_pages() {
  for (auto& [at, page] : pages_) {
    if (page.cells == nullptr) continue;
    const Cell& first = page.cells->front();
    const auto same = [&](const Cell& c) { return !c.split() && !c.has_list() && c == first; };
    if (!std::ranges::all_of(*page.cells, same)) continue;
    page.all = first;
    page.cells.reset();
    --full_;
  }
  last_at_ = ~0ULL;
}

GlobalShadow::Page& GlobalShadow::page(uint64_t at) {
  if (at == last_at_) return *last_;
  Page& page = pages_[at];
  if (page.cells == nullptr) {
    page.cells = std::make_unique<Cells>();
    page.cells->fill(page.all);
    ++full_;
  }
  last_at_ = at;
  last_ = &page;
  return page;
}

std::span<Cell> GlobalShadow::cells(uint64_t address) {
  return std::span(*page(address / page_bytes).cells).subspan(address % page_bytes / granule);
}

uint8_t* GlobalShadow::values(uint64_t address) {
  Page& p = page(address / page_bytes);
  if (p.values == nullptr) p.values = std::make_unique<Values>();
  return p.values->data() + address % page_bytes;
}

}  // namespace palladion::sim::check
