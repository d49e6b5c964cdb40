// Whole files in and out, with messages that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace palladion::host {

template <class T>
using Result = tl::expected<T, std::string>;

// Limits of what is read, in bytes.
inline constexpr uint64_t most_of_ptx = uint64_t{64} << 20;
inline constexpr uint64_t most_of_settings = uint64_t{4} << 20;  // clock parameters, suppressions
inline constexpr uint64_t most_of_records = uint64_t{1} << 30;   // a sweep's state, a device's scopes

// The error names a file that has more than `most` bytes, without reading them. A pipe into which no program
// writes within five seconds is an error.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, uint64_t most);
Result<std::string> read_text(const std::filesystem::path& path, uint64_t most);

// A name beside `file` for what becomes it when it is complete. Nobody else makes this name, nor does another
// process of the same number: namespaces number theirs alike.
std::filesystem::path name_aside(const std::filesystem::path& file);

// Writes the parts one after another into a file beside `path` and renames it, so that the old file at `path`
// stays intact until the new content is complete; the new one is removed when the program is ended before.
// Pipes and devices are written directly.
Result<void> write_file(const std::filesystem::path& path,
                        std::initializer_list<std::span<const std::byte>> parts);
Result<void> write_text(const std::filesystem::path& path, std::string_view text);

// A folder that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }  // empty: none could be made

 private:
  std::filesystem::path path_;
};

std::string current_folder();  // empty when it is unknown

// Whether `write_file` can write there, found without changing the file.
Result<void> probe_file(const std::filesystem::path& path);

}  // namespace palladion::host
