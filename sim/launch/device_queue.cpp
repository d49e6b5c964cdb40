#include "sim/launch/device_queue.h"

#include <algorithm>

#include "sim/launch/bookkeeping.h"

namespace palladion::sim {
namespace {

// In memory: a header, then records, each before its parameters. A kernel can write there: nothing is
// believed.
struct Header {
  uint64_t used = 0, committed = 0, streams = 0;
};
struct Record {
  uint64_t bytes = 0;  // of the parameters
  uint64_t order = 0;  // 0: not launched
  uint64_t stream = 0, to = 0, from = 0, count = 0;
  uint32_t kind = 0, function = 0, shared = 0;
  uint32_t grid[3] = {}, block[3] = {};
};
constexpr uint64_t granule = 16, first_record = 32;
constexpr uint64_t record_bytes = (sizeof(Record) + granule - 1) / granule * granule;
constexpr uint64_t first_stream = 16;  // smaller handles have a meaning

uint64_t padded(uint64_t bytes) { return (bytes + granule - 1) / granule * granule; }

// The offset of the new record's parameters.
uint64_t append(std::span<uint8_t> memory, const Record& record) {
  auto header = value_at<Header>(memory, 0);
  const uint64_t at = std::max(header.used, first_record), end = at + record_bytes + padded(record.bytes);
  if (at > memory.size() || end > memory.size()) return 0;
  header.used = end;
  set_value_at(memory, 0, header);
  set_value_at(memory, at, record);
  return at + record_bytes;
}

DeviceWork work_of(std::span<const uint8_t> memory, const Record& r, uint64_t params) {
  DeviceWork w;
  w.kind = static_cast<DeviceWork::Kind>(r.kind);
  w.function = r.function;
  w.grid = {r.grid[0], r.grid[1], r.grid[2]};
  w.block = {r.block[0], r.block[1], r.block[2]};
  w.shared = r.shared;
  w.stream = r.stream;
  w.to = r.to;
  w.from = r.from;
  w.bytes = r.count;
  w.params.assign(memory.begin() + static_cast<ptrdiff_t>(params),
                  memory.begin() + static_cast<ptrdiff_t>(params + r.bytes));
  return w;
}

}  // namespace

void DeviceQueue::clear() { set_value_at(memory_, 0, Header{.used = first_record}); }

uint64_t DeviceQueue::reserve(const DeviceWork& launch, uint64_t param_bytes) {
  const isa::Dim3 &g = launch.grid, &b = launch.block;
  return append(memory_, Record{.bytes = param_bytes,
                                .kind = static_cast<uint32_t>(launch.kind),
                                .function = launch.function,
                                .shared = launch.shared,
                                .grid = {g.x, g.y, g.z},
                                .block = {b.x, b.y, b.z}});
}

bool DeviceQueue::commit(uint64_t offset, uint64_t stream) {
  auto header = value_at<Header>(memory_, 0);
  if (offset < first_record + record_bytes || offset > memory_.size() || offset > header.used) return false;
  auto record = value_at<Record>(memory_, offset - record_bytes);
  if (record.order != 0) return false;
  record.order = ++header.committed;
  record.stream = stream;
  set_value_at(memory_, offset - record_bytes, record);
  set_value_at(memory_, 0, header);
  return true;
}

bool DeviceQueue::add_copy(const DeviceWork& copy) {
  const uint64_t offset = append(memory_, Record{.to = copy.to,
                                                 .from = copy.from,
                                                 .count = copy.bytes,
                                                 .kind = static_cast<uint32_t>(DeviceWork::Kind::copy)});
  return offset != 0 && commit(offset, copy.stream);
}

uint64_t DeviceQueue::new_stream() {
  auto header = value_at<Header>(memory_, 0);
  const uint64_t handle = first_stream + header.streams++;
  set_value_at(memory_, 0, header);
  return handle;
}

std::vector<DeviceWork> DeviceQueue::take() const {
  std::vector<std::pair<uint64_t, DeviceWork>> found;
  const auto header = value_at<Header>(memory_, 0);
  const uint64_t end = std::min<uint64_t>(header.used, memory_.size());
  for (uint64_t at = first_record; at + record_bytes <= end;) {
    const auto r = value_at<Record>(memory_, at);
    const uint64_t params = at + record_bytes;
    if (r.bytes > end - params) break;
    if (r.order != 0) found.emplace_back(r.order, work_of(memory_, r, params));
    at = params + padded(r.bytes);
  }
  std::ranges::stable_sort(found, {}, [](const auto& f) {
    return std::pair(f.second.stream == DeviceWork::tail_stream, f.first);
  });
  std::vector<DeviceWork> out;
  for (auto& [order, work] : found) out.push_back(std::move(work));
  return out;
}

}  // namespace palladion::sim
