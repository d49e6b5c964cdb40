#pragma once
// A timeline in plain text, narrow enough for a review comment: a row a role, unit, mbarrier and stage, a
// letter for what fills most of a column. Memory does not grow with the run.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "traces/file_sink.h"

namespace palladion::traces {

// What a text timeline shows of one track.
struct TextRow {
  Track track;
  std::map<std::string, std::vector<uint64_t>, std::less<>> states;  // time in each bin
  std::map<std::string, uint64_t, std::less<>> spent;                // by reason and line
  std::vector<std::string> lives;                                    // CTAs, of their place on an SM
};

struct TextTimeline {
  static constexpr size_t bins = 512;

  Header header;
  std::map<uint64_t, TextRow> rows;  // by track
  uint64_t bin = 1;                  // time of one bin
  uint64_t end = 0;                  // times are counted from header.from

  void add(const Event& event);

 private:
  TextRow& row_for(const Event& event);
  void spread(TextRow& row, const std::string& state, uint64_t from, uint64_t to);
  void make_room(uint64_t until);
};

std::string render(const TextTimeline& timeline, const std::string& note = {});

class TextSink final : public FileSink {
 public:
  TextSink(std::unique_ptr<BoundedFile> file, Header header) : FileSink(std::move(file)) {
    timeline_.header = std::move(header);
  }
  bool add(const Track& track) override {
    timeline_.rows[track.id].track = track;
    return true;
  }
  bool add(const Event& event) override {
    timeline_.add(event);
    return true;
  }
  void finish(const std::string& note, uint64_t at) override;

 private:
  TextTimeline timeline_;
};

}  // namespace palladion::traces
