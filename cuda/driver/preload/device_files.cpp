// Programs that look for NVIDIA's device files find them (JAX); nobody opens them under exec.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

namespace {

// Of a device file, one that exists and is a device too.
const char* existing(const char* path) {
  if (path == nullptr) return path;
  const std::string_view name = path;
  return name == "/dev/nvidiactl" || name == "/dev/nvidia0" ? "/dev/null" : path;
}

}  // namespace

// The C library's own calls of these names are others: they end in fstatat.
#define PLD_FILE_CALL extern "C" __attribute__((visibility("default"))) int
PLD_FILE_CALL stat(const char* path, struct stat* out) { return ::fstatat(AT_FDCWD, existing(path), out, 0); }
PLD_FILE_CALL stat64(const char* path, struct stat64* out) {
  return ::fstatat64(AT_FDCWD, existing(path), out, 0);
}
PLD_FILE_CALL lstat(const char* path, struct stat* out) {
  return ::fstatat(AT_FDCWD, existing(path), out, AT_SYMLINK_NOFOLLOW);
}
PLD_FILE_CALL lstat64(const char* path, struct stat64* out) {
  return ::fstatat64(AT_FDCWD, existing(path), out, AT_SYMLINK_NOFOLLOW);
}
PLD_FILE_CALL access(const char* path, int mode) { return ::faccessat(AT_FDCWD, existing(path), mode, 0); }
