#include "cuda/cubin/cubin.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace palladion::cuda::cubin {
namespace {

template <class T>
T number_at(std::string_view bytes, uint64_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, uint64_t at, uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return {};
  return bytes.substr(at, size);
}

std::string_view text_at(std::string_view bytes, uint64_t at) {
  if (at >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(at);
  return rest.substr(0, rest.find('\0'));
}

struct Section {
  uint32_t name;
  uint64_t offset, size;
};
Section section_at(std::string_view elf, uint64_t table, uint64_t entry_bytes, uint64_t index) {
  const uint64_t at = table + entry_bytes * index;
  return {number_at<uint32_t>(elf, at), number_at<uint64_t>(elf, at + 24), number_at<uint64_t>(elf, at + 32)};
}

}  // namespace

std::string_view section_of(std::string_view elf, std::string_view name) {
  if (!elf.starts_with("\177ELF\2")) return {};
  const auto table = number_at<uint64_t>(elf, 40);
  const auto bytes = number_at<uint16_t>(elf, 58), count = number_at<uint16_t>(elf, 60),
             names = number_at<uint16_t>(elf, 62);
  const Section strings = section_at(elf, table, bytes, names);
  const std::string_view all_names = part(elf, strings.offset, strings.size);
  for (uint16_t i = 0; i < count; ++i) {
    const Section s = section_at(elf, table, bytes, i);
    if (text_at(all_names, s.name) == name) return part(elf, s.offset, s.size);
  }
  return {};
}

std::string_view code_of(std::string_view cubin, std::string_view entry) {
  return section_of(cubin, ".text." + std::string(entry));
}

// The note: sizes of name and contents, type, the name, 24 bytes of numbers, then texts one after another.
MadeBy made_by(std::string_view cubin) {
  MadeBy out;
  const std::string_view note = section_of(cubin, ".note.nv.tkinfo");
  const size_t release = note.find("Cuda compilation tools");
  if (release == std::string_view::npos) return out;
  out.release = text_at(note, release);
  const size_t build = note.find("Build ", release);
  if (build == std::string_view::npos) return out;
  const std::string_view options = text_at(note, build + text_at(note, build).size() + 1);
  for (size_t at = 0; at < options.size();) {
    const size_t end = std::min(options.find(' ', at), options.size());
    if (end != at) out.options.emplace_back(options.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace palladion::cuda::cubin
