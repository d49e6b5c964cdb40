#pragma once
// ELF files made of sections.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace palladion::cuda::cubin {

template <class T>
void put(std::string& into, T value) {
  into.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// 64 bits, for NVIDIA's chips unless `machine` says otherwise.
inline std::string elf_of(std::vector<std::pair<std::string, std::string>> sections, uint16_t machine = 190) {
  std::string names(1, '\0'), contents, table(64, '\0');
  sections.insert(sections.begin(), {".shstrtab", ""});
  for (const auto& [name, bytes] : sections) names += name + '\0';
  sections.front().second = names;
  uint32_t name_at = 1;
  for (const auto& [name, bytes] : sections) {
    put<uint32_t>(table, name_at);
    put<uint32_t>(table, name_at == 1 ? 3 : 1);  // SHT_STRTAB, SHT_PROGBITS
    put<uint64_t>(table, 0);
    put<uint64_t>(table, 0);
    put<uint64_t>(table, 64 + contents.size());
    put<uint64_t>(table, bytes.size());
    table.resize(table.size() + 24);
    contents += bytes;
    name_at += static_cast<uint32_t>(name.size() + 1);
  }
  std::string out = "\177ELF\2\1\1";
  out.resize(16);
  put<uint16_t>(out, 2);
  put<uint16_t>(out, machine);
  put<uint32_t>(out, 1);
  put<uint64_t>(out, 0);
  put<uint64_t>(out, 0);
  put<uint64_t>(out, 64 + contents.size());
  put<uint32_t>(out, 0);
  for (const uint16_t n : {64, 56, 0, 64, static_cast<int>(sections.size()) + 1, 1}) put<uint16_t>(out, n);
  return out + contents + table;
}

}  // namespace palladion::cuda::cubin
