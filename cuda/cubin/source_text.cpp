#include "cuda/cubin/source_text.h"

#include <algorithm>
#include <charconv>

#include "cuda/cubin/byte_values.h"

namespace palladion::cuda::cubin {
namespace {

constexpr std::string_view section_begins = ".section .palladion_source\n{";

template <class F>
void for_each_section(std::string_view ptx, F&& f) {
  for (size_t at = ptx.find(section_begins); at != std::string_view::npos;
       at = ptx.find(section_begins, at + 1)) {
    const size_t end = ptx.find('}', at);
    if (end != std::string_view::npos) f(ptx.substr(at, end + 1 - at));
  }
}

// Of lines of `.b8 95,90,...`.
std::string bytes_in(std::string_view section) {
  std::string out;
  section.remove_prefix(section_begins.size());
  for (size_t at = section.find(".b8 "); at != std::string_view::npos; at = section.find(".b8 ", at)) {
    at += 4;
    const char *p = section.data() + at, *const end = section.data() +
                                                      std::min(section.find('\n', at), section.size());
    for (unsigned value = 0; p < end; ++p) {
      const auto [next, error] = std::from_chars(p, end, value);
      if (error != std::errc()) break;
      out += static_cast<char>(value);
      p = next;
    }
  }
  return out;
}

// The name in quotes behind a .file that ends with `name`.
std::string_view file_named(std::string_view ptx, std::string_view name) {
  for (size_t at = ptx.find(".file"); at != std::string_view::npos; at = ptx.find(".file", at + 1)) {
    const std::string_view line = ptx.substr(at, ptx.find('\n', at) - at);
    const size_t open = line.find('"');
    if (open == std::string_view::npos) continue;
    const std::string_view file = line.substr(open + 1, line.find('"', open + 1) - open - 1);
    const bool whole = file.size() == name.size() ||
                       (file.size() > name.size() && file[file.size() - name.size() - 1] == '/');
    if (file.ends_with(name) && whole) return file;
  }
  return {};
}

}  // namespace

std::string with_source(std::string ptx, std::string_view name, std::string_view text) {
  constexpr size_t most = size_t{256} << 10;
  const std::string file(file_named(ptx, name));
  if (file.empty() || text.size() > most) return ptx;
  if (!ptx.ends_with('\n')) ptx += '\n';
  return ptx + std::string(section_begins) + "\n" + byte_values(file + '\0' + std::string(text)) + "}\n";
}

std::vector<SourceText> sources_in(std::string_view ptx) {
  std::vector<SourceText> out;
  for_each_section(ptx, [&](std::string_view section) {
    const std::string bytes = bytes_in(section);
    const size_t zero = bytes.find('\0');
    if (zero != std::string::npos) out.push_back({bytes.substr(0, zero), bytes.substr(zero + 1)});
  });
  return out;
}

std::string source_sections(std::string_view ptx) {
  std::string out;
  for_each_section(ptx, [&](std::string_view section) { out += std::string(section) + '\n'; });
  return out;
}

}  // namespace palladion::cuda::cubin
