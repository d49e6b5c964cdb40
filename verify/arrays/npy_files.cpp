#include "verify/arrays/npy_files.h"

#include <fmt/format.h>
#include <unistd.h>

namespace palladion::npy {

Result<Array> read_npy(const std::filesystem::path& path, const Expected& expected) {
  const auto file = host::read_file(path, most_bytes(expected));
  if (!file) return tl::make_unexpected(file.error() + expectation(expected));
  return parse(*file, path.string(), expected);
}

Result<void> write_npy(const std::filesystem::path& path, std::string_view dtype,
                       std::span<const int64_t> shape, std::span<const std::byte> data) {
  if (const auto ok = check_data(dtype, shape, data.size()); !ok)
    return tl::make_unexpected(fmt::format("{}: {}", path.string(), ok.error()));
  const std::string start = header(dtype, shape);
  return host::write_file(path, {std::as_bytes(std::span(start)), data});
}

}  // namespace palladion::npy

namespace palladion {

using namespace host;

namespace {

// The names of .npy files' types (verify/arrays/npy.h) differ in two words.
std::string npy_name(pl::DType dtype) {
  if (dtype == pl::DType::bool_) return "pred";
  const std::string name(pl::name(dtype));
  return pl::is_signed(dtype) ? "i" + name.substr(1) : name;
}

}  // namespace

double bytes_of(const pl::ShapeDtype& type) {
  double bytes = pl::bits(type.dtype) / 8.0;
  for (const int64_t d : type.shape) bytes *= static_cast<double>(d);
  return bytes;
}

Outcome<void> check_memory(double bytes) {
  const double there =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes <= there) return {};
  return user_error(fmt::format("the arrays need {:.3g} GB, this machine has {:.3g} GB of memory",
                                bytes * 1e-9, there * 1e-9),
                    "take smaller sizes");
}

std::string describe(const pl::ShapeDtype& type) { return npy::describe(npy_name(type.dtype), type.shape); }

Outcome<Array> read_array(const std::string& file, const pl::ShapeDtype& type) {
  auto read = npy::read_npy(file, {.dtype = npy_name(type.dtype), .shape = type.shape});
  if (!read) return user_error(read.error());
  Array array;
  array.type = type;
  array.bytes = std::move(read->data);
  return array;
}

Outcome<void> write_array(const std::string& file, const Array& array) {
  const auto written = npy::write_npy(file, npy_name(array.dtype()), array.type.shape, array.bytes);
  if (!written) return not_written(written.error());
  return {};
}

}  // namespace palladion
