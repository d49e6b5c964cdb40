#pragma once
// Texture and surface objects: which are there, what they are, and the CUDA arrays below them. The driver is
// asked for descriptors when a launch is recorded; views are those that the program gave: of a texture
// without one driver 580 answers with success, and leaves the descriptor as it was.
#include <optional>
#include <string>
#include <vector>

#include "cuda/abi/cuda.h"
#include "cuda/bundle/bundle.h"
#include "cuda/capture/driver.h"

namespace palladion::cuda::capture {

using ObjectKind = bundle::Object::Kind;

// `view`: of a texture, or null.
void object_created(ObjectKind kind, uint64_t handle, const cuda::ResourceViewDescriptor* view);
void object_destroyed(ObjectKind kind, uint64_t handle);

struct LiveObject {
  uint64_t handle;
  ObjectKind kind;
  std::optional<cuda::ResourceViewDescriptor> view;
};
// Those that are there now, by ascending handles.
std::vector<LiveObject> live_objects();
// The linear memory that a texture reads; 0: it reads an array.
DevicePointer memory_of(const LiveObject& object);

// The arrays of a recording, with the driver's handles of their levels.
class RecordedArrays {
 public:
  // Describes the objects in the manifest, with their arrays.
  void describe(const std::vector<LiveObject>& objects, bundle::Manifest& manifest);
  // Copies the arrays into the folder, before or after the launch. False: the device or the disk failed.
  bool store(bundle::Manifest& manifest, const std::string& folder, bool after) const;

 private:
  struct Source {
    Handle array = nullptr;  // or the mipmapped array
    std::vector<Handle> levels;
  };
  bundle::Object object(const LiveObject& live, bundle::Manifest& manifest);
  void take_array(bundle::Object& o, Handle array, bundle::Manifest& manifest);
  void take_mipmapped(bundle::Object& o, Handle array, bundle::Manifest& manifest);
  bool add(bundle::Object& o, const Source& source, bundle::Manifest& manifest);

  std::vector<Source> sources_;  // in the order of the manifest's arrays
};

}  // namespace palladion::cuda::capture
