#include "cuda/driver/preload/runtime_copy.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "cuda/driver/preload/jump.h"

namespace palladion::cuda::preload {
namespace {

template <class T>
T read(std::string_view bytes, size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The functions' first addresses, in order: .eh_frame_hdr's table for the search of unwinders.
class Starts {
 public:
  explicit Starts(const ElfFile& file) : header_(file.section(".eh_frame_hdr")) {
    // version 1; a pointer relative to itself, a count and a table relative to the section, of 4 bytes each
    if (read<uint32_t>(header_.bytes, 0) == 0x3B'03'1B'01)
      count_ = std::min<size_t>(read<uint32_t>(header_.bytes, 8), (header_.bytes.size() - table) / row);
  }
  // The function that `address` lies in, with what follows it up to the next one.
  std::optional<RuntimeFunction> around(uint64_t address) const {
    size_t low = 0, high = count_;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      (start(middle) <= address ? low : high) = start(middle) <= address ? middle + 1 : middle;
    }
    if (low == 0) return std::nullopt;
    const uint64_t from = start(low - 1);
    return RuntimeFunction{"", from, low < count_ ? start(low) - from : jump_bytes};
  }

 private:
  static constexpr size_t table = 12, row = 8;
  uint64_t start(size_t i) const {
    return header_.address + static_cast<uint64_t>(int64_t{read<int32_t>(header_.bytes, table + i * row)});
  }
  ElfFile::Section header_;
  size_t count_ = 0;
};

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// The name of the API that begins at `address`; it may end a longer text, which linkers merge. Empty: there
// is none.
std::string name_at(const ElfFile::Section& data, uint64_t address) {
  if (!data.holds(address)) return {};
  const std::string_view rest = data.bytes.substr(address - data.address);
  if (!rest.starts_with("cuda")) return {};
  const auto* const end = std::ranges::find_if_not(rest, is_word);
  return end != rest.end() && *end == '\0' ? std::string(rest.begin(), end) : std::string();
}

// f(address of the instruction, what it refers to) for each `lea register, [rip + distance]`.
template <class Visit>
void for_each_reference(const ElfFile::Section& code, Visit&& visit) {
  constexpr size_t length = 7;
  const auto* const b = reinterpret_cast<const unsigned char*>(code.bytes.data());
  for (size_t i = 0; i + length <= code.bytes.size(); ++i) {
    if (b[i + 1] != 0x8D || (b[i] & 0xFB) != 0x48 || (b[i + 2] & 0xC7) != 0x05) continue;
    const uint64_t next = code.address + i + length;
    visit(code.address + i, next + static_cast<uint64_t>(int64_t{read<int32_t>(code.bytes, i + 3)}));
  }
}

}  // namespace

bool is_function(const Elf64_Sym& s) {
  return ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_value != 0;
}

std::vector<RuntimeFunction> functions_by_symbol(const ElfFile& file, uint32_t table) {
  std::vector<RuntimeFunction> all;
  file.for_each_symbol(table, [&](std::string_view name, const Elf64_Sym& s) {
    if (is_function(s)) all.push_back({std::string(name), s.st_value, s.st_size});
  });
  return all;
}

std::vector<RuntimeFunction> functions_by_own_name(const ElfFile& file) {
  const ElfFile::Section data = file.section(".rodata"), code = file.section(".text");
  // Python's bindings name the functions too, but it is the runtime library that opens the driver.
  for (const std::string_view text :
       {std::string_view("cudaMalloc", 11), std::string_view("libcuda.so.1", 13)})
    if (data.bytes.find(text) == std::string_view::npos) return {};  // with the NUL that ends it
  const Starts starts(file);
  std::multimap<std::string, RuntimeFunction> users;
  for_each_reference(code, [&](uint64_t from, uint64_t to) {
    std::string name = name_at(data, to);
    if (name.empty()) return;
    auto function = starts.around(from);
    if (!function) return;
    function->name = std::move(name);
    for (auto [at, end] = users.equal_range(function->name); at != end; ++at)
      if (at->second.address == function->address) return;
    users.emplace(function->name, *function);
  });
  std::vector<RuntimeFunction> all;
  for (const auto& [name, function] : users)
    if (users.count(name) == 1) all.push_back(function);
  return all;
}

}  // namespace palladion::cuda::preload
