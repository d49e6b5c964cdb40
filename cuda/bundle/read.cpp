#include "cuda/bundle/read.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <random>

#include "cuda/bundle/json_reader.h"
#include "isa/host/descriptor.h"

namespace palladion::cuda::bundle {
namespace {

constexpr uint64_t address_limit = uint64_t{1} << 57;
constexpr uint64_t most_parameters = 32764;  // bytes, PTX: "Kernel Function Parameter Attributes"

std::vector<uint8_t> unhex(const std::string& text) {
  std::vector<uint8_t> out;
  if (text.size() % 2 != 0 || text.size() / 2 > most_parameters)
    fail(fmt::format("`parameters` has {} digits: two a byte, at most {} bytes", text.size(),
                     most_parameters));
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2) fail("`parameters` is not hexadecimal");
    out.push_back(byte);
  }
  return out;
}

void check_buffer(const Buffer& b) {
  if (b.address == 0 || b.address > address_limit || b.bytes > address_limit)
    fail(
        fmt::format("buffer `{}`: {} bytes at 0x{:x} are no memory of a device", b.name, b.bytes, b.address));
}

void check_overlap(const std::vector<Buffer>& buffers) {
  std::vector<const Buffer*> sorted;
  for (const Buffer& b : buffers) sorted.push_back(&b);
  std::ranges::sort(sorted, {}, &Buffer::address);
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->address + std::max<uint64_t>(sorted[i - 1]->bytes, 1) > sorted[i]->address)
      fail(fmt::format("buffers `{}` and `{}` overlap", sorted[i - 1]->name, sorted[i]->name));
}

Manifest manifest_of(const json::value& document) {
  const Reader r(object_of(document, "the manifest"), "the manifest");
  const uint64_t format = r.number("palladion_bundle");
  if (format < 1 || format > format_version)
    fail(fmt::format("the bundle has format {}, this program reads formats 1 to {}", format, format_version));
  Manifest m;
  m.chip = r.text("chip");
  m.driver = static_cast<int>(r.number("driver", INT32_MAX));
  m.program = r.text("program");
  m.entry = r.text("entry");
  m.result = static_cast<int>(r.number("result", INT32_MAX));
  // What the driver refused may have any.
  const uint32_t least = m.result == 0 ? 1 : 0, most = m.result == 0 ? INT32_MAX : UINT32_MAX;
  m.grid = r.numbers<3>("grid", least, most);
  m.block = r.numbers<3>("block", least, most);
  m.cluster = r.numbers<3>("cluster", 1);
  m.dynamic_shared = static_cast<uint32_t>(r.number("dynamic_shared", UINT32_MAX));
  m.cooperative = r.flag("cooperative");
  m.programmatic_serialization = r.flag("programmatic_serialization");
  m.complete = r.flag("complete");
  m.parameters = unhex(r.text("parameters"));
  if (const json::value& ptx = r.at("ptx"); !ptx.is_null()) {
    const Reader p(object_of(ptx, "`ptx`"), "`ptx`");
    m.ptx_file = file_name(p.text("file"), "`ptx`");
    m.ptx_checksum = p.number("checksum");
    m.ptx_source = p.text("source");
    if (p.has("linked"))
      for (const json::value& value : p.list("linked", most_linked)) {
        const Reader l(object_of(value, "`linked`"), "`linked`");
        m.linked.push_back({file_name(l.text("file"), "`linked`"), l.number("checksum")});
      }
  }
  if (const json::value& image = r.at("image"); !image.is_null()) {
    const Reader p(object_of(image, "`image`"), "`image`");
    m.image_file = file_name(p.text("file"), "`image`");
    m.image_checksum = p.number("checksum");
  }
  for (const json::value& value : r.list("buffers", most_buffers)) {
    const Reader b(object_of(value, "a buffer"), "a buffer");
    Buffer buffer;
    buffer.name = b.text("name");
    const std::string where = fmt::format("buffer `{}`", buffer.name);
    buffer.address = b.number("address");
    buffer.bytes = b.number("bytes");
    buffer.variable = b.flag("variable");
    buffer.host_writes = b.has("host_writes") && b.flag("host_writes");
    buffer.before = contents_of(b.at("before"), where, false);
    buffer.after = contents_of(b.at("after"), where, true);
    check_buffer(buffer);
    m.buffers.push_back(std::move(buffer));
  }
  check_overlap(m.buffers);
  if (r.has("arrays"))
    for (const json::value& value : r.list("arrays", most_buffers)) m.arrays.push_back(array_of(value));
  if (r.has("objects"))
    for (const json::value& value : r.list("objects", most_buffers))
      m.objects.push_back(texture_object_of(value));
  check_objects(m);
  return m;
}

// A regular file of `bytes`, where they are known; of at most `most` bytes.
void check_size(const std::filesystem::path& path, const struct stat& status, std::optional<uint64_t> bytes,
                uint64_t most) {
  if (!S_ISREG(status.st_mode)) fail(fmt::format("{} is no regular file", path.string()));
  const auto size = static_cast<uint64_t>(status.st_size);
  if (bytes && size != *bytes)
    fail(fmt::format("{} has {} bytes, the manifest says {}", path.string(), size, *bytes));
  if (size > most) fail(fmt::format("{} has {} bytes, at most {} are read", path.string(), size, most));
}

// A file of the folder, not through a link; its size as check_size wants it.
std::vector<std::byte> read_file(const std::filesystem::path& folder, const std::string& name,
                                 std::optional<uint64_t> bytes, uint64_t most) {
  const std::filesystem::path path = folder / name;
  const host::Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0)
    fail(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  check_size(path, status, bytes, most);
  const auto size = static_cast<uint64_t>(status.st_size);
  std::vector<std::byte> out(size);
  for (size_t at = 0; at < size;) {
    const ssize_t n = ::read(file.get(), out.data() + at, size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(fmt::format("cannot read {}: it ends after {} of {} bytes", path.string(), at, size));
    at += static_cast<size_t>(n);
  }
  return out;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_sum(const std::filesystem::path& folder, const std::string& name, uint64_t wanted,
               std::span<const std::byte> bytes) {
  if (checksum(bytes) != wanted && checksum_of_format_2(bytes) != wanted)
    fail(fmt::format("{}: its checksum is not the manifest's: the file was changed, or is not complete",
                     (folder / name).string()));
}

// `bytes` is what the manifest says: a frame that holds more is refused before it is expanded, and never
// takes more memory than that.
std::vector<std::byte> decompressed(const std::filesystem::path& folder, const std::string& name,
                                    std::span<const std::byte> frame, uint64_t bytes) {
  const auto refuse = [&](const std::string& why) { fail((folder / name).string() + ": " + why); };
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    refuse("it is no zstd frame that states its size");
  if (size != bytes) refuse(fmt::format("it holds {} bytes, the manifest says {}", size, bytes));
  std::vector<std::byte> out(bytes);
  const size_t got = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != bytes) refuse("its zstd frame is broken");
  return out;
}

std::vector<std::byte> made_of_seed(uint64_t seed, uint64_t bytes) {
  std::vector<std::byte> out(bytes);
  std::mt19937_64 engine(seed);
  // Box and Muller's: the standard's distributions differ between libraries.
  for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
    const double u = (static_cast<double>(engine() >> 11) + 1) * 0x1p-53,
                 v = static_cast<double>(engine() >> 11) * 0x1p-53;
    const auto value = static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
    std::memcpy(out.data() + at, &value, 4);
  }
  return out;
}

template <class Make>
auto guarded(Make&& make) -> Result<decltype(make())> {
  try {
    return make();
  } catch (Broken& e) {
    return tl::unexpected(std::move(e.text));
  }
}

}  // namespace

bool is_bundle(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / manifest_file, ignored);
}

Result<Manifest> parse_manifest(std::string_view text) {
  return guarded([&] {
    boost::system::error_code error;
    const json::value document = json::parse(json::string_view(text.data(), text.size()), error);
    if (error) fail(fmt::format("{} is no JSON: {}", manifest_file, error.message()));
    return manifest_of(document);
  });
}

Result<Manifest> read_manifest(const std::filesystem::path& folder) {
  const auto text = guarded(
      [&] { return text_of(read_file(folder, std::string(manifest_file), std::nullopt, most_of_manifest)); });
  if (!text) return tl::unexpected(text.error());
  auto manifest = parse_manifest(*text);
  if (!manifest) return tl::unexpected(fmt::format("{}: {}", folder.string(), manifest.error()));
  return manifest;
}

Result<void> check_files(const std::filesystem::path& folder, const Manifest& manifest) {
  try {
    const auto check = [&](const Contents& c, uint64_t bytes) {
      if (c.kind != Contents::Kind::file) return;
      const std::filesystem::path path = folder / c.file;
      struct stat status{};
      if (::lstat(path.c_str(), &status) != 0)
        fail(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
      check_size(path, status, c.compressed != 0 ? c.compressed : bytes, ~uint64_t{0});
    };
    for (const Buffer& b : manifest.buffers)
      for (const Contents* c : {&b.before, &b.after}) check(*c, b.bytes);
    for (const TexelArray& a : manifest.arrays)
      for (const Contents* c : {&a.before, &a.after}) check(*c, bytes_of(a));
  } catch (Broken& e) {
    return tl::unexpected(std::move(e.text));
  }
  return {};
}

Result<std::vector<std::byte>> read_contents(const std::filesystem::path& folder, const Contents& c,
                                             uint64_t bytes) {
  return guarded([&]() -> std::vector<std::byte> {
    switch (c.kind) {
      case Contents::Kind::none:
      case Contents::Kind::same:
        return {};
      case Contents::Kind::repeated: {
        std::vector<std::byte> out(bytes);
        for (uint64_t at = 0; at < bytes; at += 8)
          std::memcpy(out.data() + at, &c.value, std::min<uint64_t>(8, bytes - at));
        return out;
      }
      case Contents::Kind::seed:
        return made_of_seed(c.value, bytes);
      case Contents::Kind::file:
        break;
    }
    const uint64_t stored = c.compressed != 0 ? c.compressed : bytes;
    std::vector<std::byte> out = read_file(folder, c.file, stored, ~uint64_t{0});
    if (c.compressed != 0) out = decompressed(folder, c.file, out, bytes);
    check_sum(folder, c.file, c.checksum, out);
    return out;
  });
}

Result<std::string> read_ptx(const std::filesystem::path& folder, const Manifest& manifest) {
  return guarded([&] {
    if (manifest.ptx_file.empty())
      fail(fmt::format("{}: no PTX of `{}` was found when it was captured", folder.string(), manifest.entry));
    const auto bytes = read_file(folder, manifest.ptx_file, std::nullopt, most_of_ptx);
    check_sum(folder, manifest.ptx_file, manifest.ptx_checksum, bytes);
    return text_of(bytes);
  });
}

Result<std::vector<std::string>> read_linked(const std::filesystem::path& folder, const Manifest& manifest) {
  return guarded([&] {
    std::vector<std::string> out;
    for (const PtxFile& p : manifest.linked) {
      const auto bytes = read_file(folder, p.file, std::nullopt, most_of_ptx);
      check_sum(folder, p.file, p.checksum, bytes);
      out.push_back(text_of(bytes));
    }
    return out;
  });
}

}  // namespace palladion::cuda::bundle
