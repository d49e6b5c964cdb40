#include "kernels/frame/tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "isa/core/whole_error.h"
#include "kernels/frame/registry.h"
#include "verify/arrays/codes.h"
#include "verify/arrays/words.h"

namespace palladion::kernels {
namespace {

constexpr std::string_view matmul_ws_text =
#include "kernels/frame/tuned.inc"
    ;

[[noreturn]] void wrong(std::string_view file, std::string_view line) {
  throw isa::WholeError(isa::Diagnostic{.code = LaunchCode::bad_description,
                                        .message = fmt::format("{}: no line of a table: `{}`", file, line)});
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "m=512 n=512"
std::map<std::string, std::string> pairs_in(std::string_view text, std::string_view file) {
  std::map<std::string, std::string> out;
  for (const std::string_view word : split(trimmed(text), " ")) {
    const size_t equals = word.find('=');
    if (word.empty()) continue;
    if (equals == std::string_view::npos) wrong(file, text);
    out.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return out;
}

TunedEntry entry_in(std::string_view line, std::string_view file) {
  const size_t colon = line.find(':'), bar = line.find('|');
  if (colon == std::string_view::npos || bar < colon) wrong(file, line);
  TunedEntry entry;
  entry.name = trimmed(line.substr(0, colon));
  for (const auto& [name, text] : pairs_in(line.substr(0, colon), file)) {
    const auto size = number_in<int64_t>(text);
    if (!size || *size <= 0) wrong(file, line);
    entry.sizes.emplace(name, *size);
  }
  entry.settings = pairs_in(line.substr(colon + 1, bar - colon - 1), file);
  if (entry.sizes.empty()) wrong(file, line);
  return entry;
}

// Sum of the logarithms of the ratios; infinite where one is above two, or a size is missing.
double distance(const TunedEntry& entry, const std::map<std::string, int64_t>& sizes) {
  double sum = 0;
  for (const auto& [name, size] : entry.sizes) {
    const auto asked = sizes.find(name);
    const double apart =
        asked == sizes.end() ? INFINITY : std::abs(std::log2(double(asked->second) / double(size)));
    sum += apart > 1 ? INFINITY : apart;
  }
  return sum;
}

const TunedTable& table_of_matmul_ws() {
  static const TunedTable table = read_tuned(matmul_ws_text, "kernels/frame/tuned.inc");
  return table;
}

// A kernel of the user's may have that name.
bool is_ours(const KernelSpec& spec, std::string_view name) {
  const KernelSpec* const ours = find_kernel(name);
  return spec.name == name && ours != nullptr && spec.doc == ours->doc;
}

bool has_16_bits(const Choice& choice, const std::string& setting) {
  const auto at = choice.settings.find(setting);
  return at != choice.settings.end() && pl::bits(choice.dtype(setting)) == 16;
}

}  // namespace

TunedTable read_tuned(std::string_view text, std::string_view file) {
  TunedTable table;
  table.file = file;
  for (std::string_view line : split(text, "\n")) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t space = line.find(' ');
    const std::string_view word = line.substr(0, space);
    std::string* const header = word == "kernel" ? &table.kernel
                                : word == "arch" ? &table.arch
                                : word == "date" ? &table.date
                                                 : nullptr;
    if (header != nullptr)
      *header = trimmed(line.substr(std::min(line.size(), space)));
    else
      table.entries.push_back(entry_in(line, file));
  }
  return table;
}

std::vector<Tuned> nearest(const TunedTable& table, const std::map<std::string, int64_t>& sizes) {
  std::vector<std::pair<double, const TunedEntry*>> order;
  for (const TunedEntry& entry : table.entries)
    if (const double apart = distance(entry, sizes); std::isfinite(apart)) order.emplace_back(apart, &entry);
  std::ranges::stable_sort(order, {}, &std::pair<double, const TunedEntry*>::first);
  std::vector<Tuned> out;
  for (const TunedEntry* const entry : order | std::views::values) {
    out.push_back({entry->settings, fmt::format("those of {} in {} ({}, {})", entry->name, table.file,
                                                table.arch, table.date)});
  }
  return out;
}

std::vector<Tuned> tuned_settings(const KernelSpec& spec, const Choice& choice,
                                  const std::map<std::string, std::string>& named) {
  const TunedTable& table = table_of_matmul_ws();
  const auto changes_time = [](const auto& pair) {
    return pair.first != "dtype" && pair.first != "out_dtype" && pair.first != "profile";
  };
  if (!is_ours(spec, table.kernel) || choice.arch->name != table.arch ||
      std::ranges::any_of(named, changes_time) || !has_16_bits(choice, "dtype") ||
      !has_16_bits(choice, "out_dtype"))
    return {};
  return nearest(table, choice.sizes);
}

}  // namespace palladion::kernels
