// Functions by their bytes: those of an archive, but for what the linker writes into them.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "cuda/driver/preload/runtime_copy.h"

namespace palladion::cuda::preload {
namespace {

struct Pattern {
  std::string name;
  uint64_t place = 0;  // in the archive's code: functions keep their order
  std::string bytes;
  std::vector<bool> fixed;

  bool matches(std::string_view code) const {
    if (code.size() < bytes.size()) return false;
    for (size_t i = 0; i < bytes.size(); ++i)
      if (fixed[i] && code[i] != bytes[i]) return false;
    return true;
  }
  size_t weight() const { return static_cast<size_t>(std::ranges::count(fixed, true)); }
};

// The bytes that the linker may change around a place: the value, and the instruction that it relaxes.
std::pair<int, int> changed_by(uint32_t relocation) {
  switch (relocation) {
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return {-3, 4};
    case R_X86_64_TLSGD:
    case R_X86_64_TLSLD:
      return {-4, 12};
    case R_X86_64_64:
    case R_X86_64_PC64:
      return {0, 8};
    default:
      return {0, 4};
  }
}

void add_patterns(const ElfFile& object, std::vector<Pattern>& all) {
  std::map<uint32_t, std::vector<Elf64_Rela>> relocations;  // by section
  object.for_each_symbol(SHT_SYMTAB, [&](std::string_view name, const Elf64_Sym& s) {
    if (!is_function(s) || !name.starts_with("__cuda")) return;
    const std::string_view code = object.section_at(s.st_shndx).bytes;
    if (s.st_value > code.size() || s.st_size > code.size() - s.st_value) return;
    Pattern p{std::string(name), s.st_value, std::string(code.substr(s.st_value, s.st_size)), {}};
    p.fixed.assign(p.bytes.size(), true);
    auto [at, first] = relocations.try_emplace(s.st_shndx);
    if (first) object.for_each_relocation(s.st_shndx, [&](const Elf64_Rela& r) { at->second.push_back(r); });
    for (const Elf64_Rela& r : at->second) {
      const auto [low, high] = changed_by(static_cast<uint32_t>(ELF64_R_TYPE(r.r_info)));
      for (int i = low; i < high; ++i)
        if (const uint64_t byte = r.r_offset + static_cast<uint64_t>(int64_t{i}) - s.st_value;
            byte < p.fixed.size())
          p.fixed[byte] = false;
    }
    constexpr size_t enough = 20;  // bytes that tell a function from others
    if (p.weight() >= enough) all.push_back(std::move(p));
  });
}

std::vector<Pattern> patterns_of(const std::string& archive) {
  std::ifstream in(archive, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  constexpr size_t header = 60, size_at = 48;
  std::vector<Pattern> all;
  if (!bytes.starts_with("!<arch>\n")) return all;
  for (size_t at = 8; at + header <= bytes.size();) {
    const size_t size = std::strtoul(bytes.c_str() + at + size_at, nullptr, 10);
    if (size > bytes.size() - at - header) break;
    const std::vector<char> member(bytes.begin() + static_cast<long>(at + header),
                                   bytes.begin() + static_cast<long>(at + header + size));
    if (const ElfFile object(std::string_view(member.data(), member.size())); object.valid())
      add_patterns(object, all);
    at += header + size + size % 2;
  }
  std::ranges::sort(all, {}, &Pattern::place);
  return all;
}

}  // namespace

std::vector<RuntimeFunction> functions_by_bytes(const ElfFile& file,
                                                const std::vector<RuntimeFunction>& known,
                                                const std::string& archive) {
  if (known.empty()) return {};
  constexpr uint64_t around = 256 << 10, alignment = 16;  // the library's code is one piece
  const auto [low, high] = std::ranges::minmax(known, {}, &RuntimeFunction::address);
  const ElfFile::Section code = file.section(".text");
  std::map<std::vector<uint64_t>, std::vector<Pattern>> found;  // by where they are
  for (Pattern& p : patterns_of(archive)) {
    std::vector<uint64_t> places;
    const uint64_t begin = low.address > code.address + around ? low.address - around : code.address;
    const uint64_t end = std::min(high.address + around, code.address + code.bytes.size());
    for (uint64_t at = begin / alignment * alignment; at < end; at += alignment)
      if (code.holds(at) && p.matches(code.bytes.substr(at - code.address))) places.push_back(at);
    if (!places.empty()) found[places].push_back(std::move(p));
  }
  std::vector<RuntimeFunction> all;
  for (const auto& [places, patterns] : found)
    for (size_t i = 0; i < places.size() && places.size() == patterns.size(); ++i)
      all.push_back({patterns[i].name, places[i], patterns[i].bytes.size()});
  return all;
}

}  // namespace palladion::cuda::preload
