#include "isa/host/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "isa/core/hash.h"
#include "isa/host/descriptor.h"

namespace palladion::host {

namespace fs = std::filesystem;

namespace {

fs::path cache_root() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != 0) return fs::path(cache) / "palladion";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home != 0) return fs::path(home) / ".cache" / "palladion";
  std::error_code none;
  return fs::temp_directory_path(none) / fmt::format("palladion-{}", ::geteuid());
}

struct OpenFile {
  explicit OpenFile(const fs::path& path, int flags)
      : file(::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
    if (file) ::fstat(file.get(), &about);
  }
  bool is_ours() const { return about.st_uid == ::geteuid(); }

  Descriptor file;
  struct stat about{};
};

// A folder that others could write to is closed for them; what they left there is not ours.
Result<void> make_private(const fs::path& folder) {
  const auto refused = [&](std::string_view why) {
    return tl::make_unexpected(fmt::format("{}: {}", folder.string(), why));
  };
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return refused(std::strerror(errno));
  const OpenFile open(folder, O_DIRECTORY);
  if (!open.file) return refused(errno == ENOTDIR || errno == ELOOP ? "is no folder" : std::strerror(errno));
  if (!open.is_ours()) return refused("belongs to another user");
  if ((open.about.st_mode & 022) != 0 && ::fchmod(open.file.get(), 0700) != 0)
    return refused(std::strerror(errno));
  return {};
}

// By words of eight bytes: a precompiled header has 100 MB.
std::optional<uint64_t> checksum_of(const OpenFile& file) {
  const auto size = size_t(file.about.st_size);
  isa::Fnv1a hash;
  hash.step(size);
  if (size == 0) return hash.value();
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.file.get(), 0);
  if (at == MAP_FAILED) return std::nullopt;
  const char* const bytes = static_cast<const char*>(at);
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min(sizeof word, size - i));
    hash.step(word);
  }
  ::munmap(at, size);
  return hash.value();
}

fs::path sum_of(const fs::path& file) { return file.string() + ".sum"; }

std::string sum_text(uint64_t checksum) { return fmt::format("{:016x}\n", checksum); }

}  // namespace

Result<fs::path> private_cache(std::string_view name) {
  const fs::path root = cache_root();
  std::error_code failed;
  fs::create_directories(root.parent_path(), failed);
  if (failed)
    return tl::make_unexpected(fmt::format("{}: {}", root.parent_path().string(), failed.message()));
  for (const fs::path& folder : {root, root / name})
    if (const auto made = make_private(folder); !made) return tl::make_unexpected(made.error());
  return root / name;
}

std::string identity_of(const fs::path& file) {
  std::error_code none;
  const fs::path real = fs::canonical(file, none);
  return fmt::format("{} {} {}", real.string(), fs::file_size(real, none),
                     fs::last_write_time(real, none).time_since_epoch().count());
}

Kept state_of_kept(const fs::path& file) {
  constexpr uint64_t most = 64;
  const OpenFile open(file, O_NONBLOCK);
  const auto stated = read_text(sum_of(file), most);
  if ((!open.file && errno == ENOENT) || !stated) return Kept::absent;
  if (!open.file || !S_ISREG(open.about.st_mode)) return Kept::damaged;
  if (!open.is_ours() || (open.about.st_mode & 022) != 0) return Kept::damaged;
  const auto checksum = checksum_of(open);
  return checksum && sum_text(*checksum) == *stated ? Kept::whole : Kept::damaged;
}

Result<void> seal(const fs::path& file) {
  const OpenFile open(file, 0);
  const bool synced = open.file && ::fsync(open.file.get()) == 0;
  const auto checksum = synced ? checksum_of(open) : std::nullopt;
  if (!checksum) return tl::make_unexpected(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  if (::fchmod(open.file.get(), open.about.st_mode & 0755) != 0)
    return tl::make_unexpected(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  return write_text(sum_of(file), sum_text(*checksum));
}

}  // namespace palladion::host
