#pragma once
// Perfetto's TrackEvent protobuf, as ui.perfetto.dev and its trace processor read it. Times are stored
// unchanged in the field for nanoseconds: one nanosecond on the axis is one SM cycle.
#include <memory>
#include <unordered_map>

#include "traces/file_sink.h"
#include "traces/protobuf.h"

namespace palladion::traces {

class PerfettoSink final : public FileSink {
 public:
  PerfettoSink(std::unique_ptr<BoundedFile> file, Header header);
  bool add(const Track& track) override;
  bool add(const Event& event) override;
  void finish(const std::string& note, uint64_t at) override;

 private:
  // Texts are written once and then referred to by number; `added` collects what this packet has to define.
  struct Names {
    std::unordered_map<std::string, uint64_t> numbers;
    uint32_t field = 0;  // of InternedData
  };
  uint64_t number_of(Names& names, std::string_view text);
  Message begin(const Event& event);
  void add_args(Message& event, const std::vector<Arg>& args);
  void packet(std::string& out, uint64_t time, const Message& event);

  Header header_;
  Names event_names_, categories_, arg_names_, arg_texts_;
  Message added_;
  bool first_ = true;
};

}  // namespace palladion::traces
