#include "cli/support/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace palladion::cli {

namespace {

namespace fs = std::filesystem;

tl::unexpected<std::string> failure(const fs::path& path, std::string_view what) {
  return tl::make_unexpected(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int value) : fd(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  // Some file systems report a failed write only here.
  bool close() { return ::close(std::exchange(fd, -1)) == 0; }
};

template <class Buffer>
Result<Buffer> read_whole(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return failure(path, "cannot be opened");
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) return failure(path, "cannot be read");
  if (S_ISDIR(info.st_mode))
    return tl::make_unexpected(fmt::format("{}: is a folder, not a file", path.string()));
  Buffer content;
  content.resize(S_ISREG(info.st_mode) ? size_t(info.st_size) : 0);
  size_t filled = 0;
  for (;;) {
    // One byte more than known: a file that grows, or a pipe, is read to its end.
    if (filled == content.size()) content.resize(filled + (filled < 65536 ? 65536 : filled / 2));
    const ssize_t got = ::read(file.fd, content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(path, "cannot be read");
    if (got == 0) break;
    filled += size_t(got);
  }
  content.resize(filled);
  return content;
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(size_t(put));
  }
  return true;
}

Result<void> write_parts(const fs::path& path, const fs::path& name_for_user, int flags,
                         std::initializer_list<std::span<const std::byte>> parts) {
  Descriptor file(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666));
  if (file.fd < 0) return failure(name_for_user, "cannot be written");
  for (const auto part : parts) {
    if (!write_all(file.fd, part)) return failure(name_for_user, "cannot be written");
  }
  if (!file.close()) return failure(name_for_user, "cannot be written");
  return {};
}

}  // namespace

Result<std::vector<std::byte>> read_file(const fs::path& path) {
  return read_whole<std::vector<std::byte>>(path);
}

Result<std::string> read_text(const fs::path& path) { return read_whole<std::string>(path); }

Result<void> write_file(const fs::path& path, std::initializer_list<std::span<const std::byte>> parts) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::is_directory(status)) {
    return tl::make_unexpected(fmt::format("{}: is a folder, not a file", path.string()));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_parts(path, path, 0, parts);

  // A link keeps pointing where it did: the file behind it is what is replaced.
  const fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  const fs::path aside = fmt::format("{}.{}.part", target.string(), ::getpid());
  auto written = write_parts(aside, path, O_CREAT | O_TRUNC, parts);
  if (written && fs::exists(status)) fs::permissions(aside, status.permissions(), ignored);
  if (written && ::rename(aside.c_str(), target.c_str()) != 0) written = failure(path, "cannot be replaced");
  if (!written) ::unlink(aside.c_str());
  return written;
}

Result<void> write_text(const fs::path& path, std::string_view text) {
  return write_file(path, {std::as_bytes(std::span(text))});
}

}  // namespace palladion::cli
