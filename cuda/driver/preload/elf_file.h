#pragma once
// The symbols and sections of an ELF file (x86-64), as far as they tell where a program's runtime library is.
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace palladion::cuda::preload {

// A file mapped for reading, closed with the object; or bytes that the caller keeps, at a multiple of 8. What
// it says is checked against its size.
class ElfFile {
 public:
  explicit ElfFile(const char* path);
  explicit ElfFile(std::string_view bytes);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  bool valid() const { return sections_ != nullptr; }

  struct Section {
    uint64_t address = 0;  // where the file wants it
    std::string_view bytes;
    bool holds(uint64_t at) const { return at >= address && at - address < bytes.size(); }
  };
  Section section(std::string_view name) const;  // empty: there is none
  bool has_section(std::string_view name) const { return !section(name).bytes.empty(); }
  // Of the section with that index.
  Section section_at(uint32_t index) const;
  // f(relocation) for those of the section with that index.
  template <class Visit>
  void for_each_relocation(uint32_t of, Visit&& visit) const {
    for (const Elf64_Shdr& s : std::span(sections_, count_)) {
      if (s.sh_type != SHT_RELA || s.sh_info != of || s.sh_offset % 8 != 0 || !lies_inside(s)) continue;
      const auto* const all = reinterpret_cast<const Elf64_Rela*>(bytes_ + s.sh_offset);
      for (size_t i = 0; i < s.sh_size / sizeof *all; ++i) visit(all[i]);
    }
  }

  // Of .symtab (SHT_SYMTAB) or .dynsym (SHT_DYNSYM): f(name, symbol). False when there is no such table.
  template <class Visit>
  bool for_each_symbol(uint32_t table, Visit&& visit) const {
    const Elf64_Shdr* const at = first_of(table);
    if (at == nullptr) return false;
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(bytes_ + at->sh_offset);
    for (size_t i = 0; i < at->sh_size / sizeof(Elf64_Sym); ++i)
      visit(text(at->sh_link, symbols[i].st_name), symbols[i]);
    return true;
  }
  // Whether such a table has a symbol of that name, defined or not.
  bool names(uint32_t table, std::string_view symbol) const;
  bool has(uint32_t table) const { return first_of(table) != nullptr; }

 private:
  void read();
  const Elf64_Shdr* first_of(uint32_t type) const;
  bool lies_inside(const Elf64_Shdr& s) const;
  std::string_view text(uint32_t section, uint32_t offset) const;

  const char* bytes_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  const Elf64_Shdr* sections_ = nullptr;
  uint32_t count_ = 0, names_ = 0;
};

}  // namespace palladion::cuda::preload
