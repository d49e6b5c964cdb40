#include "verify/arrays/npy_files.h"

#include <fmt/format.h>

namespace palladion::cli {

Result<npy::Array> read_npy(const std::filesystem::path& path, const npy::Expected& expected) {
  const auto file = read_file(path, npy::most_bytes(expected));
  if (!file) return tl::make_unexpected(file.error() + npy::expectation(expected));
  return npy::parse(*file, path.string(), expected);
}

Result<void> write_npy(const std::filesystem::path& path, std::string_view dtype,
                       std::span<const int64_t> shape, std::span<const std::byte> data) {
  if (const auto ok = npy::check_data(dtype, shape, data.size()); !ok)
    return tl::make_unexpected(fmt::format("{}: {}", path.string(), ok.error()));
  const std::string start = npy::header(dtype, shape);
  return write_file(path, {std::as_bytes(std::span(start)), data});
}

}  // namespace palladion::cli
