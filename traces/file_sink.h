#pragma once
// A destination of a trace that is one file.
#include <memory>

#include "traces/bounded_file.h"
#include "traces/model.h"

namespace palladion::traces {

class FileSink : public Sink {
 public:
  std::string why_full() const override { return file_->why(); }
  uint64_t bytes() const override { return file_->bytes(); }

 protected:
  explicit FileSink(std::unique_ptr<BoundedFile> file) : file_(std::move(file)) {}
  std::unique_ptr<BoundedFile> file_;
};

}  // namespace palladion::traces
