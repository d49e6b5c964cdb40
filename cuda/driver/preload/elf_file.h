#pragma once
// The symbols of an ELF file (x86-64), as far as they tell where a program's runtime library is.
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace palladion::cuda::preload {

// A file mapped for reading; closed with the object. What it says is checked against its size.
class ElfFile {
 public:
  explicit ElfFile(const char* path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  bool valid() const { return sections_ != nullptr; }
  bool has_section(std::string_view name) const;
  // Of .symtab (SHT_SYMTAB) or .dynsym (SHT_DYNSYM): f(name, symbol). False when there is no such table.
  template <class Visit>
  bool for_each_symbol(uint32_t table, Visit&& visit) const {
    const Elf64_Shdr* const at = section(table);
    if (at == nullptr) return false;
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(bytes_ + at->sh_offset);
    for (size_t i = 0; i < at->sh_size / sizeof(Elf64_Sym); ++i)
      visit(text(at->sh_link, symbols[i].st_name), symbols[i]);
    return true;
  }

 private:
  const Elf64_Shdr* section(uint32_t type) const;
  bool lies_inside(const Elf64_Shdr& s) const;
  std::string_view text(uint32_t section, uint32_t offset) const;

  const char* bytes_ = nullptr;
  size_t size_ = 0;
  const Elf64_Shdr* sections_ = nullptr;
  uint32_t count_ = 0, names_ = 0;
};

}  // namespace palladion::cuda::preload
