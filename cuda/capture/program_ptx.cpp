#include "cuda/capture/program_ptx.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "cuda/capture/links.h"
#include "cuda/capture/nvrtc.h"
#include "cuda/capture/say.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/fatbin/fatbin.h"
#include "cuda/fatbin/program.h"

namespace palladion::cuda::capture {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

std::string_view word_at(std::string_view text, size_t& at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  const size_t first = at;
  while (at < text.size() && (in_name(text[at]) || text[at] == '.')) ++at;
  return text.substr(first, at - first);
}

fatbin::Bytes fatbin_of(const LoadedImage& image) {
  const void* data = image.data;
  if (fatbin::image_of(data) == fatbin::Image::wrapper) {
    data = fatbin::data_of(data);
    if (fatbin::image_of(data) != fatbin::Image::fatbin) return {};
    return {static_cast<const std::byte*>(data), fatbin::bytes_of(data)};
  }
  return {static_cast<const std::byte*>(data), image.bytes};
}

// The PTX among what the program linked that has the entry.
std::optional<FoundPtx> ptx_of_link(std::string_view cubin, const std::string& entry) {
  auto [linker, inputs] = inputs_of_link(cubin);
  const auto found =
      std::ranges::find_if(inputs, [&](const LinkInput& i) { return cubin::has_entry(i.text, entry); });
  if (found == inputs.end()) return std::nullopt;
  FoundPtx out{std::move(found->text), "PTX that the program linked (" + linker + ")", {}};
  size_t without = 0;
  for (auto i = inputs.begin(); i != inputs.end(); ++i) {
    if (i == found) continue;
    without += i->text.empty() ? 1 : 0;
    if (!i->text.empty()) out.linked.push_back(std::move(i->text));
  }
  if (!out.linked.empty()) out.source += ", with " + std::to_string(out.linked.size()) + " more";
  if (without != 0)
    say_code("unsupported", Code::linked_machine_code,
             "%s was linked with %zu inputs that are no PTX: they are not in the bundle", entry.c_str(),
             without);
  return out;
}

std::optional<FoundPtx> carried(std::string_view cubin, const std::string& entry) {
  auto found = cubin::ptx_with(cubin, entry);
  if (!found) return std::nullopt;
  return FoundPtx{std::move(found->text), std::string(cubin::carried_source), std::move(found->linked)};
}

std::string bytes_of(const fatbin::Entry& e) {
  const auto bytes = fatbin::contents(e);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
}

}  // namespace

std::vector<std::string> variables_of(std::string_view ptx) {
  std::vector<std::string> out;
  int depth = 0;
  for (size_t at = 0; at < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string_view line = ptx.substr(at, end - at);
    at = end + 1;
    size_t i = 0;
    std::string_view word = word_at(line, i);
    while (word == ".visible" || word == ".extern" || word == ".weak" || word == ".common")
      word = word_at(line, i);
    if (depth == 0 && (word == ".global" || word == ".const")) {
      // After the qualifiers (.align 16 .b8) comes the name.
      for (word = word_at(line, i); !word.empty(); word = word_at(line, i)) {
        const bool number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
        if (word[0] == '.' || number) continue;
        out.emplace_back(word);
        break;
      }
    }
    if (word == "//") continue;
    depth += static_cast<int>(std::ranges::count(line, '{') - std::ranges::count(line, '}'));
  }
  return out;
}

// The objects among the symbols of the ELF file.
std::vector<std::string> variables_of_cubin(std::string_view cubin) {
  std::vector<std::string> out;
  const auto number = [&]<class T>(uint64_t at, T) {
    T value{};
    if (at <= cubin.size() && cubin.size() - at >= sizeof value)
      std::memcpy(&value, cubin.data() + at, sizeof value);
    return value;
  };
  constexpr uint32_t symbol_table = 2;
  constexpr uint8_t object = 1;
  const auto table = number(40, uint64_t{});
  const auto entry_bytes = number(58, uint16_t{}), count = number(60, uint16_t{});
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t section = table + i * entry_bytes;
    if (number(section + 4, uint32_t{}) != symbol_table) continue;
    const auto first = number(section + 24, uint64_t{}), bytes = number(section + 32, uint64_t{});
    const auto names =
        number(table + uint64_t{number(section + 40, uint32_t{})} * entry_bytes + 24, uint64_t{});
    for (uint64_t at = 0; at + 24 <= bytes && at < cubin.size(); at += 24) {
      if ((number(first + at + 4, uint8_t{}) & 15) != object) continue;
      const uint64_t name = names + number(first + at, uint32_t{});
      if (name >= cubin.size()) continue;
      const std::string_view rest = cubin.substr(name);
      out.emplace_back(rest.substr(0, rest.find('\0')));
    }
  }
  return out;
}

std::optional<FoundPtx> ptx_of(const LoadedImage& image, const std::string& entry, uint32_t compute) {
  const auto kind = fatbin::image_of(image.data);
  if (kind == fatbin::Image::ptx) {
    const std::string_view text(static_cast<const char*>(image.data), image.bytes);
    const std::string_view whole = text.substr(0, text.find('\0'));
    if (!cubin::has_entry(whole, entry)) return std::nullopt;
    return FoundPtx{std::string(whole), "PTX that the program loaded", {}};
  }
  if (kind == fatbin::Image::elf) {
    const std::string_view cubin(static_cast<const char*>(image.data), image.bytes);
    auto text = nvrtc_ptx_of(cubin);
    if (text && cubin::has_entry(*text, entry))
      return FoundPtx{std::move(*text), "NVRTC, which compiled the machine code from it", {}};
    auto linked = ptx_of_link(cubin, entry);
    return linked ? std::move(linked) : carried(cubin, entry);
  }
  if (kind != fatbin::Image::wrapper && kind != fatbin::Image::fatbin) return std::nullopt;
  const auto all = fatbin::entries(fatbin_of(image));
  if (!all) return std::nullopt;
  const bool code = std::ranges::any_of(
      *all, [&](const fatbin::Entry& e) { return e.kind == fatbin::Kind::cubin && e.arch == compute; });
  bool asked_code = false;
  const auto of_code = [&]() -> std::optional<FoundPtx> {
    if (!std::exchange(asked_code, true))
      for (const fatbin::Entry& e : *all)
        if (e.kind == fatbin::Kind::cubin && fatbin::runs_code(compute, e.arch))
          if (auto found = carried(bytes_of(e), entry)) return found;
    return std::nullopt;
  };
  for (const fatbin::Entry& e : fatbin::usable_ptx(*all, compute)) {
    if (e.arch != compute)  // older than what the machine code was made of
      if (auto found = of_code()) return found;
    auto text = fatbin::text(e);
    if (!text || !cubin::has_entry(*text, entry)) continue;
    std::string source = "fatbin, PTX for compute_" + std::to_string(e.arch);
    if (fatbin::is_for_one_chip(*text)) source += 'a';
    if (code) source += "; the driver ran the fatbin's machine code for sm_" + std::to_string(compute);
    return FoundPtx{std::move(*text), std::move(source), {}};
  }
  return of_code();
}

std::string cubin_of(const LoadedImage& image, uint32_t compute) {
  const auto kind = fatbin::image_of(image.data);
  if (kind == fatbin::Image::elf) return {static_cast<const char*>(image.data), image.bytes};
  if (kind != fatbin::Image::wrapper && kind != fatbin::Image::fatbin) return {};
  const auto all = fatbin::entries(fatbin_of(image));
  if (!all) return {};
  for (const fatbin::Entry& e : *all) {
    if (e.kind != fatbin::Kind::cubin || e.arch != compute) continue;
    if (std::string bytes = bytes_of(e); !bytes.empty()) return bytes;
  }
  return {};
}

}  // namespace palladion::cuda::capture
