#pragma once
// One JSON object a line: a header, tracks before their events, events in the order of their ends.
#include <memory>

#include "traces/file_sink.h"

namespace palladion::traces {

class JsonLinesSink final : public FileSink {
 public:
  JsonLinesSink(std::unique_ptr<BoundedFile> file, const Header& header);
  bool add(const Track& track) override;
  bool add(const Event& event) override;
  void finish(const std::string& note, uint64_t at) override;
};

}  // namespace palladion::traces
