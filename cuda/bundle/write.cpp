// Nothing but the standard library: the library that records launches contains it too.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <functional>

#include "cuda/bundle/bundle.h"
#include "cuda/bundle/json_text.h"

namespace palladion::cuda::bundle {
namespace json_text {

namespace {

// Bytes of the character of UTF-8 at the start of `s`; 0: it is none.
size_t bytes_of_character(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  const size_t n = first >= 0xc2 && first < 0xe0   ? 2
                   : first >= 0xe0 && first < 0xf0 ? 3
                   : first >= 0xf0 && first < 0xf5 ? 4
                                                   : 0;
  for (size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return too_long || no_character ? 0 : n;
}

}  // namespace

// UTF-8 stays as it is; other bytes stand for the characters of their numbers.
std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (const size_t n = bytes_of_character(s.substr(i)); n != 0) {
      out += s.substr(i, n);
      i += n - 1;
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", value);
  return text;
}

std::string hex(const std::vector<uint8_t>& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const uint8_t b : bytes) out += {digits[b >> 4], digits[b & 15]};
  return out + '"';
}

std::string contents(const Contents& c) {
  switch (c.kind) {
    case Contents::Kind::none:
      return "null";
    case Contents::Kind::same:
      return "\"same\"";
    case Contents::Kind::file:
      return "{\"file\": " + in_quotes(c.file) + ", \"checksum\": " + hex(c.checksum) +
             (c.compressed != 0 ? ", \"zstd\": " + std::to_string(c.compressed) : "") + "}";
    case Contents::Kind::repeated:
      return "{\"repeated\": " + hex(c.value) + "}";
    case Contents::Kind::seed:
      return "{\"seed\": " + std::to_string(c.value) + "}";
  }
  return "null";
}

}  // namespace json_text

namespace {

template <class Fold>
uint64_t checksum_of(std::span<const std::byte> bytes, Fold fold) {
  constexpr uint64_t prime = 0x100000001B3;
  uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&](uint64_t value) { hash = fold((hash ^ value) * prime); };
  add(bytes.size());
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    add(value);
  }
  uint64_t last = 0;
  if (at < bytes.size()) std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  if (at < bytes.size()) add(last);
  return hash;
}

uint64_t folded(uint64_t hash) { return hash ^ hash >> 32; }

}  // namespace

// A multiplication carries a bit up alone: unless each step folds the upper half down, the topmost bits of
// two words, as the signs of two doubles, cancel each other.
uint64_t checksum(std::span<const std::byte> bytes) { return checksum_of(bytes, folded); }

uint64_t checksum_of_format_2(std::span<const std::byte> bytes) {
  return folded(checksum_of(bytes, std::identity{}));
}

namespace {

template <class Members>
std::string list_of(const Members& members) {
  std::string out;
  for (const auto& m : members) out += (out.empty() ? "\n    " : ",\n    ") + text(m);
  return "[" + out + "\n  ]";
}

}  // namespace

bool launchable(const Manifest& m) {
  const auto fits = [](uint32_t n) { return n != 0 && n <= INT32_MAX; };
  return std::ranges::all_of(m.grid, fits) && std::ranges::all_of(m.block, fits);
}

std::string text(const Buffer& b) {
  using namespace json_text;
  return "{\"name\": " + in_quotes(b.name) + ", \"address\": " + hex(b.address) +
         ", \"bytes\": " + std::to_string(b.bytes) + ", \"variable\": " + word(b.variable) +
         (b.host_writes ? ", \"host_writes\": true" : "") + ",\n     \"before\": " + contents(b.before) +
         ", \"after\": " + contents(b.after) + "}";
}

std::string text(const PtxFile& p) {
  return "{\"file\": " + json_text::in_quotes(p.file) + ", \"checksum\": " + json_text::hex(p.checksum) + "}";
}

std::string text(const Manifest& m) {
  using namespace json_text;
  std::string out = "{\n";
  const auto line = [&](const char* name, const std::string& value) {
    out += "  \"" + std::string(name) + "\": " + value + ",\n";
  };
  line("palladion_bundle", std::to_string(format_version));
  line("chip", in_quotes(m.chip));
  line("driver", std::to_string(m.driver));
  line("program", in_quotes(m.program));
  line("entry", in_quotes(m.entry));
  line("grid", list(m.grid));
  line("block", list(m.block));
  line("cluster", list(m.cluster));
  line("dynamic_shared", std::to_string(m.dynamic_shared));
  line("cooperative", word(m.cooperative));
  line("programmatic_serialization", word(m.programmatic_serialization));
  line("complete", word(m.complete));
  line("result", std::to_string(m.result));
  line("parameters", hex(m.parameters));
  if (m.ptx_file.empty())
    line("ptx", "null");
  else
    line("ptx", "{\"file\": " + in_quotes(m.ptx_file) + ", \"checksum\": " + hex(m.ptx_checksum) +
                    ", \"source\": " + in_quotes(m.ptx_source) +
                    (m.linked.empty() ? std::string() : ", \"linked\": " + list_of(m.linked)) + "}");
  if (m.image_file.empty())
    line("image", "null");
  else
    line("image", "{\"file\": " + in_quotes(m.image_file) + ", \"checksum\": " + hex(m.image_checksum) + "}");
  if (!m.arrays.empty()) line("arrays", list_of(m.arrays));
  if (!m.objects.empty()) line("objects", list_of(m.objects));
  return out + "  \"buffers\": " + list_of(m.buffers) + "\n}\n";
}

}  // namespace palladion::cuda::bundle
