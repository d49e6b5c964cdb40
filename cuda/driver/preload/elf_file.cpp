#include "cuda/driver/preload/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace palladion::cuda::preload {

ElfFile::ElfFile(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat about{};
  if (::fstat(file, &about) == 0 && about.st_size >= static_cast<off_t>(sizeof(Elf64_Ehdr))) {
    size_ = static_cast<size_t>(about.st_size);
    void* const p = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (p != MAP_FAILED) bytes_ = static_cast<const char*>(p), mapped_ = true;
  }
  ::close(file);
  if (bytes_ != nullptr) read();
}

ElfFile::ElfFile(std::string_view bytes) : bytes_(bytes.data()), size_(bytes.size()) {
  if (size_ >= sizeof(Elf64_Ehdr)) read();
}

void ElfFile::read() {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes_, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % 8 != 0 ||
      header.e_shoff > size_ || header.e_shnum > (size_ - header.e_shoff) / sizeof(Elf64_Shdr))
    return;
  sections_ = reinterpret_cast<const Elf64_Shdr*>(bytes_ + header.e_shoff);
  count_ = header.e_shnum;
  names_ = header.e_shstrndx;
}

ElfFile::~ElfFile() {
  if (mapped_) ::munmap(const_cast<char*>(bytes_), size_);
}

bool ElfFile::lies_inside(const Elf64_Shdr& s) const {
  return s.sh_type == SHT_NOBITS || (s.sh_offset <= size_ && s.sh_size <= size_ - s.sh_offset);
}

const Elf64_Shdr* ElfFile::first_of(uint32_t type) const {
  for (uint32_t i = 0; i < count_; ++i)
    if (sections_[i].sh_type == type && sections_[i].sh_offset % 8 == 0 && lies_inside(sections_[i]))
      return &sections_[i];
  return nullptr;
}

std::string_view ElfFile::text(uint32_t section, uint32_t offset) const {
  if (section >= count_ || sections_[section].sh_type != SHT_STRTAB || !lies_inside(sections_[section]))
    return {};
  const Elf64_Shdr& s = sections_[section];
  if (offset >= s.sh_size) return {};
  const char* const start = bytes_ + s.sh_offset + offset;
  return {start, ::strnlen(start, s.sh_size - offset)};
}

ElfFile::Section ElfFile::section_at(uint32_t index) const {
  if (index >= count_) return {};
  const Elf64_Shdr& s = sections_[index];
  if (s.sh_type == SHT_NOBITS || !lies_inside(s)) return {};
  return {s.sh_addr, {bytes_ + s.sh_offset, s.sh_size}};
}

ElfFile::Section ElfFile::section(std::string_view name) const {
  for (uint32_t i = 0; i < count_; ++i)
    if (text(names_, sections_[i].sh_name) == name) return section_at(i);
  return {};
}

// The table of texts is searched as a whole: tables have up to a million symbols.
bool ElfFile::names(uint32_t table, std::string_view symbol) const {
  const Elf64_Shdr* const at = first_of(table);
  if (at == nullptr || at->sh_link >= count_) return false;
  const std::string_view texts = section_at(at->sh_link).bytes;
  const auto* from = texts.data();
  for (size_t left = texts.size(); from != nullptr; left = static_cast<size_t>(texts.end() - from)) {
    from = static_cast<const char*>(::memmem(from, left, symbol.data(), symbol.size()));
    if (from == nullptr) return false;
    const char* const end = from + symbol.size();
    if (from != texts.data() && from[-1] == '\0' && end != texts.end() && *end == '\0') return true;
    from = end;
  }
  return false;
}

}  // namespace palladion::cuda::preload
