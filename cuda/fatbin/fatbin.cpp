#include "cuda/fatbin/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

namespace palladion::cuda::fatbin {
namespace {

constexpr uint32_t fatbin_magic = 0xBA55ED50, wrapper_magic = 0x466243B1, elf_magic = 0x464C457F;
constexpr uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;

struct Header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};
static_assert(sizeof(Header) == 16);

struct EntryHeader {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes, options_offset;
  uint16_t minor, major;
  uint32_t arch, name_offset, name_bytes;
  uint64_t flags, zero, full_bytes;
};
static_assert(sizeof(EntryHeader) == 64);

struct Wrapper {
  uint32_t magic, version;
  const void* data;
  const void* prelinked;
};

template <class T>
T read(Bytes bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

tl::unexpected<std::string> bad(const char* why) { return tl::unexpected(std::string(why)); }

std::string_view text_at(Bytes header, uint64_t offset, uint64_t most) {
  if (offset == 0 || offset >= header.size()) return {};
  const auto* first = reinterpret_cast<const char*>(header.data()) + offset;
  const uint64_t room = std::min<uint64_t>(most, header.size() - offset);
  return {first, ::strnlen(first, room)};
}

}  // namespace

tl::expected<std::vector<Entry>, std::string> entries(Bytes bytes) {
  if (bytes.size() < sizeof(Header)) return bad("a fatbin has at least 16 bytes");
  const auto head = read<Header>(bytes, 0);
  if (head.magic != fatbin_magic) return bad("these bytes are not a fatbin");
  if (head.header_bytes < sizeof(Header) || head.header_bytes > bytes.size() ||
      head.bytes > bytes.size() - head.header_bytes)
    return bad("the fatbin says that it is longer than it is");
  bytes = bytes.subspan(head.header_bytes, head.bytes);
  std::vector<Entry> out;
  while (!bytes.empty()) {
    if (bytes.size() < sizeof(EntryHeader)) return bad("an entry of the fatbin is cut off");
    const auto e = read<EntryHeader>(bytes, 0);
    if (e.header_bytes < sizeof(EntryHeader) || e.header_bytes > bytes.size() ||
        e.payload_bytes > bytes.size() - e.header_bytes)
      return bad("an entry of the fatbin says that it is longer than the fatbin");
    const Bytes header = bytes.first(e.header_bytes);
    Bytes payload = bytes.subspan(e.header_bytes, e.payload_bytes);
    const bool compressed = (e.flags & (lz4_flag | zstd_flag)) != 0;
    if (compressed && e.compressed_bytes > payload.size())
      return bad("an entry of the fatbin says that it is longer than its payload");
    if (compressed && e.compressed_bytes != 0) payload = payload.first(e.compressed_bytes);
    out.push_back({.kind = static_cast<Kind>(e.kind),
                   .arch = e.arch,
                   .version_major = e.major,
                   .version_minor = e.minor,
                   .flags = e.flags,
                   .full_bytes = compressed ? e.full_bytes : payload.size(),
                   .options = text_at(header, e.options_offset, header.size()),
                   .name = text_at(header, e.name_offset, e.name_bytes),
                   .payload = payload});
    bytes = bytes.subspan(e.header_bytes + e.payload_bytes);
  }
  return out;
}

namespace {

// Frames that hold `bytes`; nothing where they hold another number or are broken. Memory grows with what they
// yield: the sizes that a frame and its entry state may be false.
std::optional<std::vector<std::byte>> decompressed_zstd(Bytes frames, uint64_t bytes) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  std::vector<std::byte> out;
  ZSTD_inBuffer in{frames.data(), frames.size(), 0};
  for (size_t left = 1; left != 0 || in.pos != in.size;) {
    const size_t at = out.size(), read = in.pos;
    out.resize(std::min<uint64_t>(bytes + 1, at + std::max(at, ZSTD_DStreamOutSize())));
    ZSTD_outBuffer to{out.data() + at, out.size() - at, 0};
    left = ZSTD_decompressStream(context.get(), &to, &in);
    out.resize(at + to.pos);
    const bool ends = to.pos == 0 && in.pos == read;
    if (ZSTD_isError(left) != 0 || out.size() > bytes || (left != 0 && ends)) return std::nullopt;
  }
  if (out.size() != bytes) return std::nullopt;
  return out;
}

}  // namespace

tl::expected<std::vector<std::byte>, std::string> contents(const Entry& entry, uint64_t most) {
  if ((entry.flags & (lz4_flag | zstd_flag)) == 0)
    return std::vector<std::byte>(entry.payload.begin(), entry.payload.end());
  // LZ4 expands at most 255 times; zstd may more, which `most` limits.
  if (entry.full_bytes > most || entry.full_bytes > INT32_MAX || entry.payload.size() > INT32_MAX)
    return bad("an entry of the fatbin is too large");
  if ((entry.flags & zstd_flag) != 0) {
    auto out = decompressed_zstd(entry.payload, entry.full_bytes);
    if (!out) return bad("a zstd entry of the fatbin is broken");
    return *std::move(out);
  }
  if (entry.full_bytes > uint64_t{255} * entry.payload.size() + 64)
    return bad("an LZ4 entry of the fatbin states a size that it cannot have");
  std::vector<std::byte> out(entry.full_bytes);
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()),
                                      reinterpret_cast<char*>(out.data()),
                                      static_cast<int>(entry.payload.size()), static_cast<int>(out.size()));
  if (got < 0 || static_cast<size_t>(got) != out.size()) return bad("an LZ4 entry of the fatbin is broken");
  return out;
}

tl::expected<std::string, std::string> text(const Entry& entry) {
  const auto bytes = contents(entry);
  if (!bytes) return tl::unexpected(bytes.error());
  std::string_view view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  view = view.substr(0, view.find('\0'));
  const size_t first = view.find_first_not_of("\n\r\t ");
  return std::string(first == std::string_view::npos ? std::string_view{} : view.substr(first));
}

std::string_view target_of(std::string_view ptx) {
  constexpr std::string_view directive = ".target";
  const size_t at = ptx.find(directive);
  if (at == std::string_view::npos) return {};
  const size_t first = ptx.find_first_not_of(" \t", at + directive.size());
  if (first == std::string_view::npos) return {};
  return ptx.substr(first, std::min(ptx.find_first_of(" \t\r\n,", first), ptx.size()) - first);
}

bool is_for_one_chip(std::string_view ptx) { return target_of(ptx).ends_with('a'); }
bool is_for_family(std::string_view ptx) { return target_of(ptx).ends_with('f'); }

std::vector<Entry> usable_ptx(std::span<const Entry> all, uint32_t compute) {
  std::vector<Entry> out;
  for (const Entry& e : all)
    if (e.kind == Kind::ptx && e.arch <= compute) out.push_back(e);
  std::ranges::stable_sort(out, std::greater(), &Entry::arch);
  std::ranges::stable_partition(out, [&](const Entry& e) {
    if (e.arch != compute) return false;
    const auto ptx = text(e);
    return ptx && is_for_one_chip(*ptx);
  });
  return out;
}

Image image_of(const void* first) {
  uint32_t magic = 0;
  std::memcpy(&magic, first, sizeof magic);
  if (magic == wrapper_magic) return Image::wrapper;
  if (magic == fatbin_magic) return Image::fatbin;
  if (magic == elf_magic) return Image::elf;
  const auto* text = static_cast<const unsigned char*>(first);
  const bool printable =
      text[0] == '\n' || text[0] == '\r' || text[0] == '\t' || (text[0] >= 32 && text[0] < 127);
  return printable ? Image::ptx : Image::unknown;
}

const void* data_of(const void* wrapper) { return static_cast<const Wrapper*>(wrapper)->data; }

uint64_t bytes_of(const void* first) {
  const auto at = [&]<class T>(uint64_t offset, T) {
    T value;
    std::memcpy(&value, static_cast<const char*>(first) + offset, sizeof value);
    return value;
  };
  switch (image_of(first)) {
    case Image::wrapper:
      return sizeof(Wrapper);
    case Image::fatbin:
      return at(6, uint16_t{}) + at(8, uint64_t{});
    case Image::ptx:
      return std::strlen(static_cast<const char*>(first)) + 1;
    case Image::elf: {  // 64 bits: what ends last, the section headers or the program headers
      const uint64_t sections = at(40, uint64_t{}) + uint64_t{at(58, uint16_t{})} * at(60, uint16_t{});
      const uint64_t programs = at(32, uint64_t{}) + uint64_t{at(54, uint16_t{})} * at(56, uint16_t{});
      return std::max(sections, programs);
    }
    case Image::unknown:
      break;
  }
  return 0;
}

}  // namespace palladion::cuda::fatbin
