#pragma once
// A file of whole records with a limit: a record that does not fit is not begun, and a failed write leaves
// the records before it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace palladion::traces {

class BoundedFile {
 public:
  // The limit is lowered to what the disk has room for. An Error is a sentence that names the file.
  static tl::expected<std::unique_ptr<BoundedFile>, std::string> open(const std::string& path,
                                                                      uint64_t limit);
  ~BoundedFile();
  BoundedFile(const BoundedFile&) = delete;
  BoundedFile& operator=(const BoundedFile&) = delete;

  // False from the first record on that does not fit. The last one may use room that is kept for it.
  bool write(std::string_view record, bool last = false);
  // Flushes the buffer to disk; false when that fails.
  bool flush();
  bool full() const { return !why_.empty(); }
  const std::string& why() const { return why_; }
  uint64_t bytes() const { return on_disk_ + buffer_.size(); }

 private:
  BoundedFile(int file, uint64_t limit, std::string why_limit)
      : file_(file), limit_(limit), why_limit_(std::move(why_limit)) {}

  int file_;
  uint64_t limit_;
  std::string why_limit_, why_;
  uint64_t on_disk_ = 0;
  std::string buffer_;
  std::vector<size_t> ends_;  // of the records in the buffer
};

}  // namespace palladion::traces
