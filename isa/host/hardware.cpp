#include "isa/host/hardware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

namespace palladion::host {
namespace {

uint64_t pages(int which) { return uint64_t(::sysconf(which)) * uint64_t(::sysconf(_SC_PAGESIZE)); }

}  // namespace

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "unknown";
}

std::string vector_units() {
  std::vector<std::string_view> have, miss;
  const auto note = [&](bool there, std::string_view name) { (there ? have : miss).push_back(name); };
  note(__builtin_cpu_supports("avx2"), "AVX2");
  note(__builtin_cpu_supports("fma"), "FMA");
  note(__builtin_cpu_supports("x86-64-v4"), "AVX-512");
  std::string text = fmt::format("{}", fmt::join(have, ", "));
  if (!miss.empty()) text += fmt::format("; without {}", fmt::join(miss, ", "));
  return text;
}

uint64_t memory_bytes() { return pages(_SC_PHYS_PAGES); }
uint64_t free_memory_bytes() { return pages(_SC_AVPHYS_PAGES); }

}  // namespace palladion::host
