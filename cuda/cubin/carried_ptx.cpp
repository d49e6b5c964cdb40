#include "cuda/cubin/carried_ptx.h"

#include <algorithm>
#include <cctype>

#include "cuda/cubin/cubin.h"
#include "cuda/cubin/ptx_lines.h"

namespace palladion::cuda::cubin {
namespace {

std::string joined(const std::vector<std::string>& names) {
  constexpr size_t most = 5;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) out += (i == 0 ? " `" : ", `") + names[i] + '`';
  if (names.size() > most) out += " and " + std::to_string(names.size() - most) + " more";
  return out;
}

std::string text_of(std::string_view bytes) {
  std::string out(bytes);
  std::ranges::replace(out, '\0', '\n');
  return out;
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> ptx_of(std::string_view cubin) {
  const auto sections = sections_of(cubin);
  if (!sections) return tl::unexpected(sections.error());
  std::vector<std::string> out;
  for (const Section& s : *sections) {
    if (!s.name.starts_with(ptx_section) || s.bytes.empty()) continue;
    std::string text = text_of(s.bytes);
    if (text.find(".version") == std::string::npos)
      return tl::unexpected("broken machine code: its section " + std::string(s.name) + " holds no PTX");
    out.push_back(with_lines(std::move(text), s.name, cubin));
  }
  if (out.empty())
    return tl::unexpected("machine code without its PTX:" + joined(functions_of(cubin)) +
                          ". With line information it carries it: " + ways_to_carry());
  return out;
}

bool has_entry(std::string_view ptx, std::string_view entry) {
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  for (size_t at = ptx.find(".entry"); at != std::string_view::npos; at = ptx.find(".entry", at)) {
    at = ptx.find_first_not_of(" \t\r\n", at + 6);
    if (at == std::string_view::npos) return false;
    const std::string_view rest = ptx.substr(at);
    if (rest.starts_with(entry) && (rest.size() == entry.size() || !in_name(rest[entry.size()]))) return true;
  }
  return false;
}

std::string statements_of(std::string_view ptx) {
  constexpr std::string_view space = " \t\r";
  std::string out;
  bool in_section = false;
  for (size_t at = 0, end = 0; at < ptx.size(); at = end + 1) {
    end = std::min(ptx.find('\n', at), ptx.size());
    std::string_view line = ptx.substr(at, end - at);
    line = line.substr(0, line.find("//"));
    line.remove_prefix(std::min(line.find_first_not_of(space), line.size()));
    line = line.substr(0, line.find_last_not_of(space) + 1);
    const bool skipped = line.empty() || line.starts_with(".loc") || line.starts_with(".file");
    const bool was_in_section = in_section;
    in_section = (in_section || line.starts_with(".section")) && !line.ends_with('}');
    if (skipped || in_section || was_in_section) continue;
    out += std::string(line) + '\n';
  }
  return out;
}

tl::expected<KernelPtx, std::string> ptx_with(std::string_view cubin, std::string_view entry) {
  auto texts = ptx_of(cubin);
  if (!texts) return tl::unexpected(std::move(texts.error()));
  const auto found = std::ranges::find_if(*texts, [&](const std::string& t) { return has_entry(t, entry); });
  if (found == texts->end())
    return tl::unexpected("the machine code carries PTX without the kernel `" + std::string(entry) + '`');
  KernelPtx out{std::move(*found), {}};
  texts->erase(found);
  out.linked = std::move(*texts);
  return out;
}

}  // namespace palladion::cuda::cubin
