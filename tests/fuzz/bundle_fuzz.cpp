// Any text: it is refused with a reason, or it is a manifest that is written and read again to the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cuda/bundle/read.h"

namespace bundle = palladion::cuda::bundle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto manifest = bundle::parse_manifest({reinterpret_cast<const char*>(data), size});
  if (!manifest) {
    if (manifest.error().empty()) std::abort();
    return 0;
  }
  const std::string written = bundle::text(*manifest);
  const auto again = bundle::parse_manifest(written);
  if (!again || bundle::text(*again) != written) {
    std::fprintf(stderr, "%s\n%s\n", written.c_str(), again ? "" : again.error().c_str());
    std::abort();
  }
  return 0;
}
