#include "traces/text.h"

#include <algorithm>

namespace palladion::traces {
namespace {

std::string text_of(const Event& e, std::string_view key) {
  for (const Arg& arg : e.args)
    if (const auto* text = std::get_if<std::string_view>(&arg.value); text != nullptr && arg.key == key)
      return std::string(*text);
  return {};
}

}  // namespace

// Operations in flight are counted together.
TextRow& TextTimeline::row_for(const Event& e) {
  TextRow& row = rows[e.track];
  return row.track.kind == TrackKind::in_flight ? rows[row.track.parent] : row;
}

void TextTimeline::add(const Event& absolute) {
  if (absolute.instant || absolute.from >= absolute.to || absolute.to <= header.from) return;
  Event e = absolute;
  e.from = std::max(e.from, header.from) - header.from;
  e.to -= header.from;
  TextRow& row = row_for(e);
  make_room(e.to);
  end = std::max(end, e.to);
  const std::string reason = text_of(e, "reason");
  switch (row.track.kind) {
    case TrackKind::cta:
      row.lives.emplace_back(e.name);
      break;
    case TrackKind::warp:
      row.spent[reason.empty() ? "executes" : reason + " " + text_of(e, "line")] += e.to - e.from;
      spread(row, reason.empty() ? "executes" : reason, e.from, e.to);
      break;
    case TrackKind::group:
    case TrackKind::tma:
    case TrackKind::tensor_core:
      row.spent["busy"] += e.to - e.from;
      spread(row, "busy", e.from, e.to);
      break;
    default:
      row.spent[std::string(e.name)] += e.to - e.from;
      spread(row, std::string(e.name), e.from, e.to);
  }
}

// Bins double when the run grows beyond them.
void TextTimeline::make_room(uint64_t until) {
  while (until > bin * bins) {
    bin *= 2;
    for (auto& [id, row] : rows) {
      for (auto& [state, times] : row.states) {
        for (size_t i = 0; i < bins / 2; ++i) times[i] = times[2 * i] + times[2 * i + 1];
        std::fill(times.begin() + bins / 2, times.end(), 0);
      }
    }
  }
}

void TextTimeline::spread(TextRow& row, const std::string& state, uint64_t from, uint64_t to) {
  std::vector<uint64_t>& times = row.states.try_emplace(state, bins).first->second;
  for (uint64_t i = from / bin; i * bin < to; ++i)
    times[i] += std::min(to, (i + 1) * bin) - std::max(from, i * bin);
}

void TextSink::finish(const std::string& note, uint64_t) {
  file_->write(render(timeline_, note));
  file_->flush();
}

}  // namespace palladion::traces
