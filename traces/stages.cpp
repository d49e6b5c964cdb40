#include "traces/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/check/core/context.h"
#include "sim/machine/exec/exec.h"

namespace palladion::traces {

Stages::Stages(ClusterTrace& trace) : trace_(trace) {
  const sim::Program& p = *trace.run().program;
  for (const isa::BufferName& b : p.module->buffers)
    if (b.element != "mbarrier")
      arrays_.push_back({b.name, p.symbol_address[b.symbol] + b.offset, b.bytes, b.shape, 0, {}});
  if (!arrays_.empty()) return;
  for (const sim::check::SharedObject& o : sim::check::shared_objects(trace.run()))
    arrays_.push_back({o.name, o.base, o.bytes, {}, 0, {}});
}

const Stages::Array* Stages::array_at(sim::SharedAddress address) const {
  const uint32_t offset = address & sim::shared_offset_mask;
  const auto at = std::ranges::find_if(
      arrays_, [&](const Array& a) { return offset >= a.base && offset - a.base < a.bytes; });
  return at == arrays_.end() ? nullptr : &*at;
}

// Leading dimensions are taken away while what remains still holds what one copy moves.
void Stages::cut(Array& array, uint64_t moved) {
  array.stage = array.bytes;
  for (const int64_t size : array.shape) {
    const auto n = static_cast<uint64_t>(std::max<int64_t>(size, 1));
    if (array.stage % n != 0 || array.stage / n < moved) return;
    array.stage /= n;
    array.parts.push_back(size);
  }
}

std::optional<Stages::Place> Stages::place_of(sim::SharedAddress address) const {
  const Array* a = array_at(address);
  if (a == nullptr || a->stage == 0) return std::nullopt;
  return Place{sim::CtaRank(address >> sim::cta_rank_shift), static_cast<uint32_t>(a - arrays_.data()),
               static_cast<uint32_t>(((address & sim::shared_offset_mask) - a->base) / a->stage)};
}

// Bytes that an operation moves in the array, in the CTA of the address.
uint64_t Stages::moved_in(const Array& a, sim::SharedAddress address, std::span<const sim::Piece> pieces) {
  uint64_t bytes = 0;
  for (const sim::Piece& p : pieces) {
    const auto at = static_cast<uint32_t>(p.address);
    const bool same_cta = p.shared() && at >> sim::cta_rank_shift == address >> sim::cta_rank_shift;
    if (same_cta && (at & sim::shared_offset_mask) - a.base < a.bytes) bytes += p.bytes;
  }
  return bytes;
}

std::vector<Stages::Place> Stages::touched(std::span<const sim::Piece> pieces, bool copies) {
  std::vector<Place> out;
  for (const sim::Piece& p : pieces) {
    if (!p.shared()) continue;
    const sim::SharedAddress address(p.address);
    if (const Array* a = array_at(address); copies && a != nullptr && a->stage == 0)
      cut(arrays_[static_cast<size_t>(a - arrays_.data())], moved_in(*a, address, pieces));
    const auto place = place_of(address);
    if (place && std::ranges::find(out, *place) == out.end()) out.push_back(*place);
  }
  return out;
}

std::string Stages::name(const Place& place) const {
  const Array& a = arrays_[place.array];
  std::string out = fmt::format("`{}`", a.name), parts;
  uint32_t part = place.part;
  for (auto size = a.parts.rbegin(); size != a.parts.rend(); ++size) {
    parts = fmt::format("[{}]", part % *size) + parts;
    part /= static_cast<uint32_t>(*size);
  }
  return out + parts;
}

ClusterTrace::LocalTrack Stages::track_of(const Place& place) {
  const auto group = trace_.group(place.rank, 30, "shared memory");
  const std::string text = name(place);
  return trace_.track(place.rank, group, TrackKind::stage,
                      static_cast<int>(place.array << 16 | (place.part & 0xFFFF)), text, text);
}

// Writes the stage's slices up to now, when it is filled again or the run has ended.
void Stages::settle(const Place& place, Use& use, uint64_t until) {
  const auto track = track_of(place);
  const auto slice = [&](uint64_t from, uint64_t to, Category category, std::string_view by) {
    if (from >= to) return;
    Event e{.from = from, .to = to, .category = category, .name = traces::name(category)};
    if (!by.empty()) e.args = {{"by", by}};
    trace_.add(track, std::move(e));
  };
  if (use.filled) {
    const uint64_t filled = use.filling != 0 ? until : std::min(use.fill_to, until);
    const uint64_t read = use.read ? std::clamp(use.read_from, filled, until) : until;
    slice(use.fill_from, filled, Category::filling, use.filler);
    slice(filled, read, Category::full, {});
    if (use.read) {
      const uint64_t done = use.reading != 0 ? until : std::clamp(use.read_to, read, until);
      slice(read, done, Category::reading, use.reader);
      slice(done, until, Category::free, {});
    }
  }
  const uint32_t filling = use.filling, reading = use.reading;
  use = {};
  use.filling = filling;
  use.reading = reading;
}

void Stages::fill_begins(const Place& place, std::string_view by) {
  const uint64_t now = trace_.now();
  Use& use = uses_[place];
  if (use.filling == 0 && (!use.filled || use.read)) {
    if (use.filled) settle(place, use, now);
    use.filled = true;
    use.fill_from = now;
    use.filler = by;
  }
  ++use.filling;
}

void Stages::fill_ends(const Place& place) {
  Use& use = uses_[place];
  if (use.filling != 0) --use.filling;
  use.fill_to = trace_.now();
}

void Stages::read_begins(const Place& place, std::string_view by) {
  Use& use = uses_[place];
  if (!use.read) {
    use.read_from = trace_.now();
    use.reader = by;
  }
  use.read = true;
  ++use.reading;
}

void Stages::read_ends(const Place& place) {
  Use& use = uses_[place];
  if (use.reading != 0) --use.reading;
  use.read_to = trace_.now();
}

void Stages::accessed(const sim::Access& a, std::string_view by) {
  if (a.lanes == 0) return;
  const uint64_t first = a.addresses[std::countr_zero(a.lanes)];
  if (!sim::is_shared(sim::space_of(a.space, first))) return;
  const auto place = place_of(sim::SharedAddress(first));
  if (!place) return;
  if (a.kind == sim::Access::Kind::read) {
    read_begins(*place, by);
    read_ends(*place);
  } else {
    fill_begins(*place, by);
    fill_ends(*place);
  }
}

void Stages::flush() {
  for (auto& [place, use] : uses_)
    if (use.filled) settle(place, use, trace_.now());
}

}  // namespace palladion::traces
