#include "traces/bounded_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace palladion::traces {
namespace {

constexpr size_t buffer_bytes = 1 << 20;
constexpr uint64_t kept_for_last = 4096;        // bytes
constexpr uint64_t left_on_disk = 64ULL << 20;  // bytes that others may need

// Bytes that a regular file may still take; without bound for pipes and devices.
uint64_t room_for(int file) {
  struct stat status;
  struct statvfs disk;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || fstatvfs(file, &disk) != 0) return ~0ULL;
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  return free - std::min(free, left_on_disk);
}

std::string bytes_text(uint64_t bytes) {
  if (bytes % (1ULL << 30) == 0 && bytes != 0) return fmt::format("{} GiB", bytes >> 30);
  if (bytes >= 1ULL << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} bytes", bytes);
}

}  // namespace

tl::expected<std::unique_ptr<BoundedFile>, std::string> BoundedFile::open(const std::string& path,
                                                                          uint64_t limit) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return tl::make_unexpected(fmt::format("cannot write `{}`: {}", path, std::strerror(errno)));
  const uint64_t room = room_for(file);
  const std::string why = room < limit ? fmt::format("the disk has room for {} more", bytes_text(room))
                                       : fmt::format("the limit of {}", bytes_text(limit));
  return std::unique_ptr<BoundedFile>(new BoundedFile(file, std::min(limit, room), why));
}

BoundedFile::~BoundedFile() {
  flush();
  ::close(file_);
}

bool BoundedFile::write(std::string_view record, bool last) {
  if (!why_.empty() && !(last && why_ == why_limit_)) return false;
  if (bytes() + record.size() + (last ? 0 : kept_for_last) > limit_) {
    why_ = why_limit_;
    return false;
  }
  buffer_ += record;
  ends_.push_back(buffer_.size());
  return buffer_.size() < buffer_bytes || flush();
}

bool BoundedFile::flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      why_ = std::strerror(errno);
      break;
    }
    done += static_cast<size_t>(n);
  }
  if (done < buffer_.size()) {  // whole records only; a pipe cannot take back what it has
    const auto end = std::ranges::upper_bound(ends_, done);
    done = end == ends_.begin() ? 0 : *(end - 1);
    if (::ftruncate(file_, static_cast<off_t>(on_disk_ + done)) != 0) why_ += ", and the last record is cut";
  }
  on_disk_ += done;
  buffer_.clear();
  ends_.clear();
  return why_.empty() || why_ == why_limit_;
}

}  // namespace palladion::traces
