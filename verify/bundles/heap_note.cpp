#include "verify/bundles/heap_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace palladion::verify {
namespace {

bool allocates(const isa::Module& module) {
  return std::ranges::any_of(module.functions,
                             [](const isa::Function& f) { return !f.defined && f.name == "malloc"; });
}

}  // namespace

std::string heap_note(const isa::Module& program, const cuda::bundle::Manifest& manifest, const Array& got,
                      const Array& wanted) {
  if (!allocates(program)) return {};
  const auto recorded = [&](uint64_t address) {
    return std::ranges::any_of(manifest.buffers,
                               [&](const cuda::bundle::Buffer& b) { return address - b.address < b.bytes; });
  };
  std::map<uint64_t, uint64_t> stands_for;
  std::set<uint64_t> taken;
  size_t words = 0;
  const size_t bytes = std::min(got.bytes.size(), wanted.bytes.size());
  if (std::memcmp(got.bytes.data() + bytes / 8 * 8, wanted.bytes.data() + bytes / 8 * 8, bytes % 8) != 0)
    return {};
  for (size_t at = 0; at + 8 <= bytes; at += 8) {
    uint64_t ours = 0, theirs = 0;
    std::memcpy(&ours, got.bytes.data() + at, 8);
    std::memcpy(&theirs, wanted.bytes.data() + at, 8);
    if (ours == theirs) continue;
    ++words;
    const auto [known, fresh] = stands_for.try_emplace(ours, theirs);
    if (known->second != theirs || (fresh && !taken.insert(theirs).second)) return {};
    if (ours == 0 || theirs == 0 || recorded(ours) || recorded(theirs)) return {};
  }
  return fmt::format(
      "\nthe program calls malloc: the {} words of 64 bits that differ may all be addresses of blocks of the "
      "heap, which lie elsewhere in the machine (each stands for one of the device's)",
      words);
}

}  // namespace palladion::verify
