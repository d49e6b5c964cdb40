#include "verify/bundles/complete.h"

#include <span>

#include "cuda/bundle/read.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/toolkit/match.h"
#include "isa/host/files.h"

namespace palladion::verify {

using namespace host;

namespace {

namespace fs = std::filesystem;

constexpr uint64_t most_of_image = uint64_t{256} << 20;

Outcome<Completed> take_ptx(const fs::path& bundle, cuda::bundle::Manifest& manifest,
                            const cuda::toolkit::Match& match) {
  manifest.ptx_file = "kernel.ptx";
  manifest.ptx_checksum = cuda::bundle::checksum(std::as_bytes(std::span(match.ptx)));
  manifest.ptx_source = match.source;
  if (const auto written = write_text(bundle / manifest.ptx_file, match.ptx); !written)
    return not_written(written.error());
  if (const auto written = write_text(bundle / cuda::bundle::manifest_file, cuda::bundle::text(manifest));
      !written)
    return not_written(written.error());
  return Completed{"PTX from " + match.source};
}

Completed not_usable(const std::string& why) { return {"not usable: " + why}; }
Completed without_ptx(const std::string& why) { return {"without PTX: " + why, true}; }

// Of PTX that machine code carried, the file with its comments and all lines.
Outcome<Completed> complete_text(const fs::path& bundle, cuda::bundle::Manifest& manifest,
                                 const std::vector<fs::path>& ptx_folders) {
  const auto carried = cuda::bundle::read_ptx(bundle, manifest);
  if (!carried) return not_usable(carried.error());
  const cuda::toolkit::Match match = cuda::toolkit::match_text(*carried, manifest.entry, ptx_folders);
  if (match.ptx.empty()) return Completed{"with its PTX, which the machine code carried"};
  return take_ptx(bundle, manifest, match);
}

}  // namespace

Outcome<Completed> complete(const fs::path& bundle, const std::vector<fs::path>& ptx_folders) {
  auto manifest = cuda::bundle::read_manifest(bundle);
  if (!manifest) return not_usable(manifest.error());
  if (manifest->ptx_source == cuda::cubin::carried_source)
    return complete_text(bundle, *manifest, ptx_folders);
  if (!manifest->ptx_file.empty()) return Completed{"with its PTX"};
  if (manifest->image_file.empty()) return without_ptx("the program's image is not known");
  const auto cubin = read_text(bundle / manifest->image_file, most_of_image);
  if (!cubin) return without_ptx(cubin.error());
  const cuda::toolkit::Match match = cuda::toolkit::match_ptx(*cubin, manifest->entry, ptx_folders);
  if (match.ptx.empty()) return without_ptx(match.why_not);
  return take_ptx(bundle, *manifest, match);
}

}  // namespace palladion::verify
