#include "bundle/read.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <random>

namespace palladion::bundle {
namespace {

namespace json = boost::json;
struct Broken {
  std::string text;
};

// Where generic addresses of shared and local memory lie in the machine (sim/machine/state/cluster.h).
constexpr uint64_t windows_begin = 0x0100'0000'0000, windows_end = 0x0300'0000'0000;
constexpr uint64_t address_limit = uint64_t{1} << 57;
constexpr uint64_t most_parameters = 32764;  // bytes, PTX: "Kernel Function Parameter Attributes"

[[noreturn]] void fail(std::string message) { throw Broken{std::move(message)}; }

// A member of a JSON object, with its name for messages.
class Reader {
 public:
  Reader(const json::object& object, std::string where) : object_(object), where_(std::move(where)) {}

  const json::value& at(std::string_view name) const {
    const json::value* value = object_.if_contains(name);
    if (value == nullptr) fail(fmt::format("{} has no `{}`", where_, name));
    return *value;
  }
  std::string text(std::string_view name) const {
    const json::value& value = at(name);
    if (!value.is_string()) wrong(name, "a string");
    return std::string(value.as_string());
  }
  bool flag(std::string_view name) const {
    const json::value& value = at(name);
    if (!value.is_bool()) wrong(name, "true or false");
    return value.as_bool();
  }
  // A number, or a string "0x...", which holds 64 bits.
  uint64_t number(std::string_view name, uint64_t most = ~uint64_t{0}) const {
    const json::value& value = at(name);
    uint64_t out = 0;
    bool ok = false;
    if (value.is_string()) {
      const json::string& s = value.as_string();
      if (s.starts_with("0x")) {
        const auto [end, error] = std::from_chars(s.data() + 2, s.data() + s.size(), out, 16);
        ok = error == std::errc() && end == s.data() + s.size() && s.size() > 2;
      }
    } else if (value.is_uint64()) {
      out = value.as_uint64();
      ok = true;
    } else if (value.is_int64() && value.as_int64() >= 0) {
      out = static_cast<uint64_t>(value.as_int64());
      ok = true;
    }
    if (!ok || out > most) wrong(name, fmt::format("a number from 0 to {}", most));
    return out;
  }
  std::array<uint32_t, 3> dims(std::string_view name) const {
    const json::value& value = at(name);
    std::array<uint32_t, 3> out{};
    if (!value.is_array() || value.as_array().size() != 3) wrong(name, "three numbers");
    for (size_t i = 0; i < 3; ++i) {
      const json::value& v = value.as_array()[i];
      if (!v.is_int64() || v.as_int64() < 1 || v.as_int64() > INT32_MAX)
        wrong(name, "three numbers from 1 to 2147483647");
      out[i] = static_cast<uint32_t>(v.as_int64());
    }
    return out;
  }
  [[noreturn]] void wrong(std::string_view name, std::string_view wanted) const {
    fail(fmt::format("{}: `{}` is not {}", where_, name, wanted));
  }

 private:
  const json::object& object_;
  std::string where_;
};

const json::object& object_of(const json::value& value, std::string_view where) {
  if (!value.is_object()) fail(fmt::format("{} is no object", where));
  return value.as_object();
}

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

// A name within the folder: no separators, no way out.
std::string file_name(std::string name, std::string_view where) {
  const bool plain =
      !name.empty() && name.size() <= 255 && name[0] != '.' && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
      });
  if (!plain) fail(fmt::format("{}: `{}` is no name of a file in the bundle", where, name));
  return name;
}

Contents contents_of(const json::value& value, const std::string& where, bool after) {
  Contents c;
  if (value.is_null()) return c;
  if (value.is_string()) {
    if (!after || value.as_string() != "same") fail(fmt::format("{}: unknown contents", where));
    c.kind = Contents::Kind::same;
    return c;
  }
  const Reader reader(object_of(value, where), where);
  if (value.as_object().contains("file")) {
    c.kind = Contents::Kind::file;
    c.file = file_name(reader.text("file"), where);
    c.checksum = reader.number("checksum");
  } else if (value.as_object().contains("repeated")) {
    c.kind = Contents::Kind::repeated;
    c.value = reader.number("repeated");
  } else {
    c.kind = Contents::Kind::seed;
    c.value = reader.number("seed");
  }
  return c;
}

void check_buffer(const Buffer& b) {
  if (b.address == 0 || b.address > address_limit || b.bytes > address_limit)
    fail(
        fmt::format("buffer `{}`: {} bytes at 0x{:x} are no memory of a device", b.name, b.bytes, b.address));
  if (b.address < windows_end && b.address + b.bytes > windows_begin)
    fail(
        fmt::format("buffer `{}` at 0x{:x}: generic addresses from 0x{:x} to 0x{:x} are those of shared and "
                    "local memory in the machine",
                    b.name, b.address, windows_begin, windows_end));
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
  if (format != format_version)
    fail(fmt::format("the bundle has format {}, this program reads format {}", format, format_version));
  Manifest m;
  m.chip = r.text("chip");
  m.driver = static_cast<int>(r.number("driver", INT32_MAX));
  m.program = r.text("program");
  m.entry = r.text("entry");
  m.grid = r.dims("grid");
  m.block = r.dims("block");
  m.cluster = r.dims("cluster");
  m.dynamic_shared = static_cast<uint32_t>(r.number("dynamic_shared", UINT32_MAX));
  m.cooperative = r.flag("cooperative");
  m.programmatic_serialization = r.flag("programmatic_serialization");
  m.complete = r.flag("complete");
  m.result = static_cast<int>(r.number("result", INT32_MAX));
  m.parameters = unhex(r.text("parameters"));
  if (const json::value& ptx = r.at("ptx"); !ptx.is_null()) {
    const Reader p(object_of(ptx, "`ptx`"), "`ptx`");
    m.ptx_file = file_name(p.text("file"), "`ptx`");
    m.ptx_checksum = p.number("checksum");
    m.ptx_source = p.text("source");
  }
  if (const json::value& image = r.at("image"); !image.is_null()) {
    const Reader p(object_of(image, "`image`"), "`image`");
    m.image_file = file_name(p.text("file"), "`image`");
    m.image_checksum = p.number("checksum");
  }
  const json::value& buffers = r.at("buffers");
  if (!buffers.is_array()) r.wrong("buffers", "a list");
  if (buffers.as_array().size() > most_buffers)
    fail(fmt::format("the bundle names {} buffers, at most {} are read", buffers.as_array().size(),
                     most_buffers));
  for (const json::value& value : buffers.as_array()) {
    const Reader b(object_of(value, "a buffer"), "a buffer");
    Buffer buffer;
    buffer.name = b.text("name");
    const std::string where = fmt::format("buffer `{}`", buffer.name);
    buffer.address = b.number("address");
    buffer.bytes = b.number("bytes");
    buffer.variable = b.flag("variable");
    buffer.before = contents_of(b.at("before"), where, false);
    buffer.after = contents_of(b.at("after"), where, true);
    check_buffer(buffer);
    m.buffers.push_back(std::move(buffer));
  }
  check_overlap(m.buffers);
  return m;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// A regular file of the folder, not through a link. `bytes`: its size must be that; else it is at most
// `most`.
std::vector<std::byte> read_file(const std::filesystem::path& folder, const std::string& name,
                                 std::optional<uint64_t> bytes, uint64_t most) {
  const std::filesystem::path path = folder / name;
  const File file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    fail(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) fail(fmt::format("{} is no regular file", path.string()));
  const auto size = static_cast<uint64_t>(status.st_size);
  if (bytes && size != *bytes)
    fail(fmt::format("{} has {} bytes, the manifest says {}", path.string(), size, *bytes));
  if (size > most) fail(fmt::format("{} has {} bytes, at most {} are read", path.string(), size, most));
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
  if (checksum(bytes) != wanted)
    fail(fmt::format("{}: its checksum is not the manifest's: the file was changed, or is not complete",
                     (folder / name).string()));
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
    std::vector<std::byte> out = read_file(folder, c.file, bytes, ~uint64_t{0});
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

}  // namespace palladion::bundle
