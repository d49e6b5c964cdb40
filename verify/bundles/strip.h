// Bundles for others: without what was in the memory.
#pragma once

#include <filesystem>

#include "cuda/bundle/bundle.h"
#include "isa/host/outcome.h"

namespace palladion::verify {

// Contents before the launch become numbers of a seed, those after it are removed. Tables stay: buffers of at
// most 64 KiB that hold the address of another buffer, without which the launch could not be replayed. The
// manifest is written first, then files are removed.
host::Outcome<void> strip(const std::filesystem::path& folder, cuda::bundle::Manifest& manifest);

}  // namespace palladion::verify
