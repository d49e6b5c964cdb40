// Whole files in and out, with messages that name the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace palladion::cli {

template <class T>
using Result = tl::expected<T, std::string>;

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);
Result<std::string> read_text(const std::filesystem::path& path);

// Writes the parts one after another into a file beside `path` and renames it, so that the old file at `path`
// stays intact until the new content is complete. Pipes and devices are written directly.
Result<void> write_file(const std::filesystem::path& path,
                        std::initializer_list<std::span<const std::byte>> parts);
Result<void> write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace palladion::cli
