#include "isa/host/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "isa/host/descriptor.h"
#include "isa/host/interrupt.h"
#include "isa/host/numbers.h"

namespace palladion::host {

namespace {

namespace fs = std::filesystem;

tl::unexpected<std::string> failure(const fs::path& path, std::string_view what) {
  return tl::make_unexpected(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

tl::unexpected<std::string> too_large(const fs::path& path, uint64_t most) {
  return tl::make_unexpected(
      fmt::format("{}: has more than {}, the most that is read here", path.string(), human_bytes(most)));
}

// Waits until `fd`, opened without blocking, has bytes or its end. A pipe without a writer has no end yet.
// False, with errno: there will be none.
bool wait_for_bytes(int fd, bool has_writer) {
  using namespace std::chrono;
  constexpr seconds limit(5);
  pollfd wanted{fd, POLLIN, 0};
  while (has_writer) {
    const int ready = ::poll(&wanted, 1, 50);
    if (ready > 0) return true;
    if (interrupted()) errno = EINTR;
    if (interrupted() || (ready < 0 && errno != EINTR)) return false;
  }
  const auto start = steady_clock::now();
  while (steady_clock::now() - start < limit && !interrupted()) {
    const int ready = ::poll(&wanted, 1, 20);
    if (ready > 0 && (wanted.revents & POLLIN) != 0) return true;
    if (ready > 0) std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

template <class Buffer>
Result<Buffer> read_whole(const fs::path& path, uint64_t most) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return failure(path, "cannot be opened");
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return failure(path, "cannot be read");
  if (S_ISDIR(info.st_mode))
    return tl::make_unexpected(fmt::format("{}: is a folder, not a file", path.string()));
  if (S_ISREG(info.st_mode) && uint64_t(info.st_size) > most) return too_large(path, most);
  const bool is_pipe = S_ISFIFO(info.st_mode);
  if (is_pipe && !wait_for_bytes(file.get(), false))
    return tl::make_unexpected(fmt::format("{}: {}", path.string(),
                                           interrupted()
                                               ? "interrupted, before a program wrote into this pipe"
                                               : "no program wrote into this pipe for 5 s"));
  Buffer content;
  content.resize(S_ISREG(info.st_mode) ? size_t(info.st_size) : 0);
  size_t filled = 0;
  for (;;) {
    // One byte more than known: a file that grows, or a pipe, is read to its end.
    if (filled == content.size())
      content.resize(size_t(std::min<uint64_t>(filled + (filled < 65536 ? 65536 : filled / 2), most + 1)));
    const ssize_t got = ::read(file.get(), content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    const bool may_come = !S_ISREG(info.st_mode);  // /proc/kmsg calls itself a file
    if (got < 0 && errno == EAGAIN && may_come && wait_for_bytes(file.get(), true)) continue;
    if (got < 0) return failure(path, "cannot be read");
    if (got == 0) break;
    filled += size_t(got);
    if (filled > most) return too_large(path, most);
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

bool write_parts(int fd, std::initializer_list<std::span<const std::byte>> parts) {
  return std::ranges::all_of(parts, [&](const auto part) { return write_all(fd, part); });
}

// A link keeps pointing where it did: the file behind it is what is replaced.
fs::path target_of(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

// A new file in the folder of `aside`: without a name, so that nothing of it stays when the program is ended;
// or `named`, where the file system has no such files.
int open_new(const fs::path& aside, bool named) {
  return named ? ::open(aside.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666)
               : ::open(folder_of(aside).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

// Whether `aside` is complete and on the disk; else errno says why.
bool write_aside(const fs::path& aside, bool named, std::initializer_list<std::span<const std::byte>> parts) {
  Descriptor file(open_new(aside, named));
  if (!file || !write_parts(file.get(), parts) || ::fsync(file.get()) != 0) return false;
  const std::string open = fmt::format("/proc/self/fd/{}", file.get());
  if (!named && ::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, aside.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return false;
  return file.close();
}

void sync_folder(const fs::path& folder) {
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open) ::fsync(open.get());
}

}  // namespace

fs::path name_aside(const fs::path& file) {
  uint64_t number = 0;
  (void)!::getrandom(&number, sizeof number, 0);
  return fmt::format("{}.{:016x}.part", file.string(), number);
}

Result<std::vector<std::byte>> read_file(const fs::path& path, uint64_t most) {
  return read_whole<std::vector<std::byte>>(path, most);
}

Result<std::string> read_text(const fs::path& path, uint64_t most) {
  return read_whole<std::string>(path, most);
}

Result<void> write_file(const fs::path& path, std::initializer_list<std::span<const std::byte>> parts) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::is_directory(status)) {
    return tl::make_unexpected(fmt::format("{}: is a folder, not a file", path.string()));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || !write_parts(file.get(), parts) || !file.close()) return failure(path, "cannot be written");
    return {};
  }
  const fs::path target = target_of(path), aside = name_aside(target);
  const Unfinished removed(aside);
  const auto failed = [&](std::string_view what) {
    const auto why = failure(path, what);
    ::unlink(aside.c_str());
    return why;
  };
  if (!write_aside(aside, false, parts) && !write_aside(aside, true, parts))
    return failed("cannot be written");
  if (fs::exists(status)) fs::permissions(aside, status.permissions(), ignored);
  if (::rename(aside.c_str(), target.c_str()) != 0) return failed("cannot be replaced");
  sync_folder(folder_of(target));
  return {};
}

Result<void> probe_file(const fs::path& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::is_directory(status))
    return tl::make_unexpected(fmt::format("{}: is a folder, not a file", path.string()));
  const bool exists = fs::exists(status);
  if (exists && ::access(path.c_str(), W_OK) != 0) return failure(path, "cannot be written");
  if (exists && !fs::is_regular_file(status)) return {};
  const fs::path aside = name_aside(target_of(path));
  if (const Descriptor nameless(open_new(aside, false)); nameless) return {};
  const Unfinished removed(aside);
  if (const Descriptor named(open_new(aside, true)); !named) return failure(path, "cannot be written");
  ::unlink(aside.c_str());
  return {};
}

TemporaryFolder::TemporaryFolder() {
  std::error_code none;
  std::string name = (fs::temp_directory_path(none) / "palladion_XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code none;
  if (!path_.empty()) fs::remove_all(path_, none);
}

std::string current_folder() {
  std::error_code none;
  return fs::current_path(none).string();
}

Result<void> write_text(const fs::path& path, std::string_view text) {
  return write_file(path, {std::as_bytes(std::span(text))});
}

}  // namespace palladion::host
