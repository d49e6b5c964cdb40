#pragma once
// A Sink that keeps a trace in memory as one JSON object of columns, which a page reads at once: a text or a
// name stands there once, an event is a few short numbers.
#include <string>
#include <string_view>
#include <unordered_map>

#include "traces/model.h"

namespace palladion::traces {

class ColumnSink final : public Sink {
 public:
  // At `limit` bytes it is full.
  ColumnSink(Header header, uint64_t limit) : header_(std::move(header)), limit_(limit) {}

  bool add(const Track& track) override;
  bool add(const Event& event) override;
  void finish(const std::string& note, uint64_t at) override;
  std::string why_full() const override { return full_ ? "the limit of the report" : ""; }
  uint64_t bytes() const override;

  // {"title", "unit", "sm_clock_mhz", "from", "note", "cut_at",
  //  "kinds": of tracks, "categories": of events, "texts": [...],
  //  "tracks": [[parent or -1, kind, order, name], ...],
  //  "track", "at", "length" (-1: an instant), "category", "name" (a text): a number an event, in the order
  //  of their ends,
  //  "pc": -1 for none, "line": a text or -1,
  //  "more": [[event, {key: value}], ...], "flows", "ends": event, arrow, event, arrow, ...}
  std::string json() const;

 private:
  size_t text(std::string_view text);
  void arrows(std::string& into, const std::vector<uint64_t>& ids);

  Header header_;
  uint64_t limit_, cut_at_ = 0;
  bool full_ = false;
  std::string note_;
  std::unordered_map<uint64_t, size_t> tracks_, arrows_;  // numbered from 0
  std::unordered_map<std::string, size_t> texts_;
  size_t events_ = 0;
  // Elements with a comma after each.
  std::string track_rows_, text_rows_, track_, at_, length_, category_, name_, pc_, line_, more_, flows_,
      ends_;
};

}  // namespace palladion::traces
