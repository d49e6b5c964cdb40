#pragma once
// Reads a bundle from its folder. Nothing in it is trusted: sizes, names and checksums are verified before
// memory is taken, a file outside the folder is never opened, and nothing is written.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "cuda/bundle/bundle.h"

namespace palladion::cuda::bundle {

// The error is a text that names the file and what is wrong with it.
template <class T>
using Result = tl::expected<T, std::string>;

// Limits of a bundle that is read.
inline constexpr uint64_t most_of_manifest = uint64_t{64} << 20;  // bytes
inline constexpr uint64_t most_of_ptx = uint64_t{64} << 20;
inline constexpr size_t most_buffers = 1 << 16;
inline constexpr size_t most_linked = 1024;

// A folder with a manifest in it.
bool is_bundle(const std::filesystem::path& folder);

// The manifest, whose fields agree with each other: launch sizes fit, file names are names within the folder,
// buffers have addresses, do not overlap and do not lie where generic addresses of shared and local memory
// are.
Result<Manifest> read_manifest(const std::filesystem::path& folder);
// The same for the text of a manifest.
Result<Manifest> parse_manifest(std::string_view text);

// All files of contents are there and have the sizes that the manifest says: before memory is taken for any.
Result<void> check_files(const std::filesystem::path& folder, const Manifest& manifest);

// `bytes` of contents; checked against the checksum. Empty when they were not recorded (Kind::none). `same`
// is the caller's matter.
Result<std::vector<std::byte>> read_contents(const std::filesystem::path& folder, const Contents& contents,
                                             uint64_t bytes);
Result<std::string> read_ptx(const std::filesystem::path& folder, const Manifest& manifest);
// The modules with which it was linked.
Result<std::vector<std::string>> read_linked(const std::filesystem::path& folder, const Manifest& manifest);

}  // namespace palladion::cuda::bundle
