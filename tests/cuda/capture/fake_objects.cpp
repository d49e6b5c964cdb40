// Arrays, texture and surface objects of the fake driver, and what two kernels of object_program.cpp do with
// them.
#include <cstring>
#include <map>
#include <vector>

#include "cuda/abi/cuda.h"
#include "tests/cuda/capture/fake_driver.h"

namespace {

using fake::Status;
namespace abi = palladion::cuda;

struct Array {
  abi::Array3DDescriptor descriptor;
  std::vector<uint32_t> words;  // every texel has 4 bytes
};
struct Object {
  abi::ResourceDescriptor resource;
  abi::TextureDescriptor texture;
};
std::map<uint64_t, Object> textures, surfaces;
uint64_t next_handle = 1;

size_t or_one(size_t n) { return n == 0 ? 1 : n; }

template <class T>
T parameter(void** params, int i) {
  T value;
  std::memcpy(&value, params[i], sizeof value);
  return value;
}

Array& array_of(std::map<uint64_t, Object>& objects, uint64_t handle) {
  return *static_cast<Array*>(objects.at(handle).resource.of.array.array);
}

}  // namespace

namespace fake {

bool run_with_objects(const std::string& kernel, void** params) {
  auto* const data = reinterpret_cast<uint32_t*>(parameter<uint64_t>(params, 0));
  if (kernel == "sample") {  // the texture's second row to memory, numbers to the surface's first
    const Array& from = array_of(textures, parameter<uint64_t>(params, 2));
    Array& to = array_of(surfaces, parameter<uint64_t>(params, 3));
    for (uint32_t i = 0; i < 8; ++i) {
      data[i] = from.words[8 + i];
      to.words[i] = i;
    }
    return true;
  }
  if (kernel == "layers") {  // the third layer's second row to memory
    const Array& from = array_of(textures, parameter<uint64_t>(params, 2));
    for (uint32_t i = 0; i < 8; ++i) data[i] = from.words[2 * 16 + 8 + i];
    return true;
  }
  if (kernel != "gather") return false;
  uint64_t handle = 0;  // in memory, not in a parameter
  std::memcpy(&handle, data, 8);
  const auto* const texels =
      reinterpret_cast<const uint32_t*>(textures.at(handle).resource.of.linear.address);
  for (uint32_t i = 0; i < 8; ++i) data[16 + i] = texels[i];
  return true;
}

}  // namespace fake

extern "C" {
Status cuArray3DCreate_v2(void** array, const abi::Array3DDescriptor* d) {
  auto* const made = new Array{*d, {}};
  made->words.resize(d->width * or_one(d->height) * or_one(d->depth));
  *array = made;
  return 0;
}
Status cuArray3DGetDescriptor_v2(abi::Array3DDescriptor* d, void* array) {
  return *d = static_cast<Array*>(array)->descriptor, 0;
}
Status cuMemcpy3D_v2(const abi::Memcpy3D* c) {
  const size_t bytes = c->width * c->height * c->depth;
  const bool to_array = c->dst_type == abi::memory_array;
  auto& words = static_cast<Array*>(to_array ? c->dst_array : c->src_array)->words;
  if (bytes != words.size() * 4) return 1;
  if (to_array)
    std::memcpy(words.data(), c->src_host, bytes);
  else
    std::memcpy(c->dst_host, words.data(), bytes);
  return 0;
}
Status cuTexObjectCreate(uint64_t* object, const abi::ResourceDescriptor* r, const abi::TextureDescriptor* t,
                         const void*) {
  textures[next_handle] = {*r, *t};
  return *object = next_handle++, 0;
}
Status cuTexObjectDestroy(uint64_t object) { return textures.erase(object) == 1 ? 0 : 1; }
Status cuTexObjectGetResourceDesc(abi::ResourceDescriptor* r, uint64_t object) {
  return *r = textures.at(object).resource, 0;
}
Status cuTexObjectGetTextureDesc(abi::TextureDescriptor* t, uint64_t object) {
  return *t = textures.at(object).texture, 0;
}
// As driver 580 where the program gave no view: success, and the descriptor stays as it was.
Status cuTexObjectGetResourceViewDesc(abi::ResourceViewDescriptor*, uint64_t) { return 0; }
Status cuSurfObjectCreate(uint64_t* object, const abi::ResourceDescriptor* r) {
  surfaces[next_handle] = {*r, {}};
  return *object = next_handle++, 0;
}
Status cuSurfObjectDestroy(uint64_t object) { return surfaces.erase(object) == 1 ? 0 : 1; }
Status cuSurfObjectGetResourceDesc(abi::ResourceDescriptor* r, uint64_t object) {
  return *r = surfaces.at(object).resource, 0;
}
}
