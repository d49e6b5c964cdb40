#include <algorithm>
#include <charconv>
#include <cstring>

#include "cuda/cubin/carried_ptx.h"
#include "cuda/cubin/cubin.h"

namespace palladion::cuda::cubin {
namespace {

struct Header {
  unsigned char ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8};  // 64 bits, little endian, CUDA
  uint16_t type = 2, machine = machine_of_cuda;                       // an executable
  uint32_t version = 1;
  uint64_t entry = 0, programs = 0, sections = 0;
  uint32_t flags = 0;
  uint16_t header_bytes = 64, program_bytes = 56, program_count = 0, section_bytes = 64, section_count = 3,
           names = 1;
};
static_assert(sizeof(Header) == 64);

struct SectionHeader {
  uint32_t name = 0, type = 0;
  uint64_t flags = 0, address = 0, offset = 0, bytes = 0;
  uint32_t link = 0, info = 0;
  uint64_t alignment = 1, entry_bytes = 0;
};
static_assert(sizeof(SectionHeader) == 64);

// The chip's number in e_flags, as ptxas 13.0 writes it.
uint32_t flags_of(std::string_view ptx) {
  constexpr uint32_t abi = 0x9000000;
  constexpr std::string_view target = ".target sm_";
  uint32_t chip = 0;
  if (const size_t at = ptx.find(target); at != std::string_view::npos)
    std::from_chars(ptx.data() + at + target.size(), ptx.data() + ptx.size(), chip);
  return abi | (chip & 0xffff) << 8;
}

}  // namespace

std::string carry(std::string_view ptx) {
  constexpr uint32_t strings = 3, contents = 1;  // SHT_STRTAB, SHT_PROGBITS
  constexpr std::string_view own_name = ".shstrtab";
  const std::string names = '\0' + std::string(own_name) + '\0' + std::string(ptx_section) + '\0';
  std::string text(ptx.substr(0, ptx.find('\0')));
  std::ranges::replace(text, '\n', '\0');
  if (!text.ends_with('\0')) text += '\0';
  Header header;
  header.flags = flags_of(ptx);
  SectionHeader sections[3];
  sections[1] = {.name = 1, .type = strings, .offset = sizeof header, .bytes = names.size()};
  sections[2] = {.name = uint32_t(2 + own_name.size()),
                 .type = contents,
                 .offset = sections[1].offset + names.size(),
                 .bytes = text.size()};
  header.sections = (sections[2].offset + text.size() + 7) / 8 * 8;
  std::string out(header.sections + sizeof sections, '\0');
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sections[1].offset, names.data(), names.size());
  std::memcpy(out.data() + sections[2].offset, text.data(), text.size());
  std::memcpy(out.data() + header.sections, sections, sizeof sections);
  return out;
}

}  // namespace palladion::cuda::cubin
