// Any bytes: entries that lie within them, whose contents have the size that the entry states, or a reason.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>

#include "cuda/fatbin/fatbin.h"

namespace fatbin = palladion::cuda::fatbin;

namespace {

bool lies_in(fatbin::Bytes all, const void* first, size_t size) {
  const auto* at = static_cast<const std::byte*>(first);
  const std::less_equal<> before;
  return size == 0 || (before(all.data(), at) && before(at + size, all.data() + all.size()));
}

void check_entry(fatbin::Bytes all, const fatbin::Entry& entry) {
  if (!lies_in(all, entry.payload.data(), entry.payload.size()) ||
      !lies_in(all, entry.name.data(), entry.name.size()) ||
      !lies_in(all, entry.options.data(), entry.options.size()))
    std::abort();
  constexpr uint64_t most = 1 << 20;
  const auto contents = fatbin::contents(entry, most);
  if (!contents) {
    if (contents.error().empty()) std::abort();
    return;
  }
  if (contents->size() != entry.full_bytes) std::abort();
  const auto text = fatbin::text(entry);
  if (!text || text->size() > contents->size() || text->find('\0') != std::string::npos) std::abort();
  (void)fatbin::is_for_one_chip(*text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fatbin::Bytes bytes = std::as_bytes(std::span(data, size));
  const auto entries = fatbin::entries(bytes);
  if (!entries) {
    if (entries.error().empty()) std::abort();
    return 0;
  }
  for (const fatbin::Entry& entry : *entries) check_entry(bytes, entry);
  constexpr uint32_t compute = 90;
  uint32_t previous = compute;
  for (const fatbin::Entry& entry : fatbin::usable_ptx(*entries, compute)) {
    if (entry.kind != fatbin::Kind::ptx || entry.arch > previous) std::abort();
    previous = entry.arch;
  }
  return 0;
}
