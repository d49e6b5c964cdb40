#include "cuda/cubin/cubin.h"

#include <algorithm>
#include <cstdint>

#include "cuda/cubin/bytes.h"

namespace palladion::cuda::cubin {
namespace {

constexpr uint32_t strings = 3, without_bytes = 8;  // SHT_STRTAB, SHT_NOBITS
constexpr std::string_view code_prefix = ".text.";

tl::unexpected<std::string> broken(std::string_view what) {
  return tl::unexpected("broken machine code: " + std::string(what));
}

struct Place {
  uint32_t name, type;
  uint64_t offset, bytes;
};

// The header of the ELF file, as far as the sections need it.
struct Table {
  std::string_view file;
  uint64_t at = number_at<uint64_t>(file, 40);
  uint16_t entry_bytes = number_at<uint16_t>(file, 58), count = number_at<uint16_t>(file, 60),
           names = number_at<uint16_t>(file, 62);

  bool lies_inside() const { return at <= file.size() && uint64_t{entry_bytes} * count <= file.size() - at; }
  Place place(uint64_t index) const {
    const uint64_t entry = at + entry_bytes * index;
    return {number_at<uint32_t>(file, entry), number_at<uint32_t>(file, entry + 4),
            number_at<uint64_t>(file, entry + 24), number_at<uint64_t>(file, entry + 32)};
  }
  bool holds(const Place& p) const {
    return p.type == without_bytes || (p.offset <= file.size() && p.bytes <= file.size() - p.offset);
  }
  std::string_view bytes(const Place& p) const {
    return p.type == without_bytes ? std::string_view() : file.substr(p.offset, p.bytes);
  }
};

}  // namespace

tl::expected<std::vector<Section>, std::string> sections_of(std::string_view cubin) {
  constexpr uint16_t least_entry = 64;
  if (!cubin.starts_with("\177ELF\2")) return broken("it is no ELF file of 64 bits");
  if (number_at<uint16_t>(cubin, 18) != machine_of_cuda)
    return broken("the ELF file is not for NVIDIA's chips");
  const Table table{cubin};
  if (table.count == 0 || table.entry_bytes < least_entry) return broken("the ELF file has no sections");
  if (!table.lies_inside()) return broken("the ELF file is cut off: its table of sections is missing");
  const Place names = table.names < table.count ? table.place(table.names) : Place{};
  if (names.type != strings || !table.holds(names))
    return broken("the ELF file is cut off: the names of its sections are missing");
  std::vector<Section> out;
  for (uint16_t i = 0; i < table.count; ++i) {
    const Place place = table.place(i);
    const std::string_view name = text_at(table.bytes(names), place.name);
    if (!table.holds(place))
      return broken("the ELF file is cut off: section " + std::string(name) + " is missing");
    out.push_back({name, table.bytes(place), place.type});
  }
  return out;
}

std::string_view section_of(std::string_view cubin, std::string_view name) {
  const auto all = sections_of(cubin);
  if (!all) return {};
  const auto found = std::ranges::find(*all, name, &Section::name);
  return found == all->end() ? std::string_view() : found->bytes;
}

std::string_view code_of(std::string_view cubin, std::string_view entry) {
  return section_of(cubin, std::string(code_prefix) + std::string(entry));
}

std::vector<std::string> functions_of(std::string_view cubin) {
  std::vector<std::string> out;
  const auto all = sections_of(cubin);
  if (!all) return out;
  for (const Section& s : *all)
    if (s.name.starts_with(code_prefix)) out.emplace_back(s.name.substr(code_prefix.size()));
  return out;
}

// .nv.info is a list of attributes: format, name, then two bytes, or their number and so many bytes. That of
// registers has the index of a symbol and the number.
Registers registers_of(std::string_view cubin) {
  constexpr uint8_t sized = 4, registers = 0x2f;
  constexpr uint64_t symbol_bytes = 24;
  const std::string_view info = section_of(cubin, ".nv.info"), symbols = section_of(cubin, ".symtab"),
                         names = section_of(cubin, ".strtab");
  Registers out;
  for (Cursor at(info); !at.at_end();) {
    const auto format = at.take<uint8_t>(), attribute = at.take<uint8_t>();
    const auto bytes = at.take<uint16_t>();
    if (format != sized) continue;  // those two bytes are its value
    if (attribute == registers) {
      const uint64_t symbol = symbol_bytes * number_at<uint32_t>(info, at.at());
      const std::string_view name = text_at(names, number_at<uint32_t>(symbols, symbol));
      if (!name.empty()) out.emplace(name, number_at<uint32_t>(info, at.at() + 4));
    }
    at.skip(bytes);
  }
  return out;
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
