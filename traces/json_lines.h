#pragma once
// One JSON object a line: a header, tracks before their events, events in the order of their ends.
#include <memory>

#include "traces/bounded_file.h"
#include "traces/model.h"

namespace palladion::traces {

class JsonLinesSink final : public Sink {
 public:
  JsonLinesSink(std::unique_ptr<BoundedFile> file, const Header& header);
  bool add(const Track& track) override;
  bool add(const Event& event) override;
  void finish(const std::string& note, uint64_t at) override;
  std::string why_full() const override { return file_->why(); }
  uint64_t bytes() const override { return file_->bytes(); }

 private:
  std::unique_ptr<BoundedFile> file_;
};

}  // namespace palladion::traces
