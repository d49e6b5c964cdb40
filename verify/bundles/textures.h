#pragma once
// Texture and surface objects of a bundle as the machine takes them.
#include "cuda/bundle/bundle.h"
#include "verify/launch/job.h"

namespace palladion::verify {

// `buffer`: the job's buffer of the first array of the manifest; the others follow it.
std::vector<TextureObject> objects_of(const cuda::bundle::Manifest& manifest, int buffer);

}  // namespace palladion::verify
