// A program that launches kernels with texture and surface objects.
//   object_program sample|gather|layers|view|odd|linked|jitlinked
// layers: a layered array; view: a texture of its second and third layer. linked: `gather` of a module that
// the driver linked of two; jitlinked: that libnvJitLink did.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "cuda/abi/cuda.h"

namespace {

using Status = int;
namespace abi = palladion::cuda;

template <class F>
F* function(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  return reinterpret_cast<F*>(dlsym(library, name));
}

const char* const ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry sample(.param .u64 data, .param .u32 n, .param .u64 texture, .param .u64 surface) {
  .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [texture]; ld.param.u64 %rd3, [surface];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  add.f32 %f1, %f1, 0f3F000000;
  mov.f32 %f2, 0f3FC00000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1, %f2}];
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd1, %rd4;
  st.global.f32 [%rd4], %f3;
  shl.b32 %r2, %r1, 2;
  mov.b32 %r3, 0;
  sust.b.2d.b32.trap [%rd3, {%r2, %r3}], {%r1};
  ret;
}
.visible .entry layers(.param .u64 data, .param .u32 layer, .param .u64 texture, .param .u64 surface) {
  .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [texture]; ld.param.u32 %r2, [layer];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  add.f32 %f1, %f1, 0f3F000000;
  mov.f32 %f2, 0f3FC00000;
  tex.a2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%r2, %f1, %f2, %f2}];
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd1, %rd4;
  st.global.f32 [%rd4], %f3;
  ret;
}
.visible .entry gather(.param .u64 data, .param .u32 n) {
  .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  ld.global.u64 %rd2, [%rd1];
  mov.u32 %r1, %tid.x;
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r1}];
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd3, %rd1, %rd3;
  st.global.u32 [%rd3+64], %r2;
  ret;
}
)";

void* new_array(size_t width, size_t height, uint32_t format, size_t layers = 0) {
  const abi::Array3DDescriptor d{width,  height, layers,
                                 format, 1,      layers != 0 ? uint32_t{abi::array_layered} : 0};
  void* array = nullptr;
  function<Status(void**, const abi::Array3DDescriptor*)>("cuArray3DCreate_v2")(&array, &d);
  float texels[64];
  for (size_t i = 0; i < width * height * std::max<size_t>(layers, 1); ++i)
    texels[i] = static_cast<float>(i) + 0.25F;
  abi::Memcpy3D copy{};
  copy.src_type = abi::memory_host;
  copy.src_host = texels;
  copy.dst_type = abi::memory_array;
  copy.dst_array = array;
  copy.width = width * 4;
  copy.height = height;
  copy.depth = std::max<size_t>(layers, 1);
  function<Status(const abi::Memcpy3D*)>("cuMemcpy3D_v2")(&copy);
  return array;
}

uint64_t new_texture(const abi::ResourceDescriptor& r, const abi::ResourceViewDescriptor* view = nullptr) {
  abi::TextureDescriptor t{};
  t.address_mode[0] = t.address_mode[1] = t.address_mode[2] = 1;  // clamp
  uint64_t object = 0;
  function<Status(uint64_t*, const abi::ResourceDescriptor*, const abi::TextureDescriptor*, const void*)>(
      "cuTexObjectCreate")(&object, &r, &t, view);
  return object;
}

const char* const same = R"(.version 8.0
.target sm_90
.address_size 64
.visible .func (.param .b32 r) same(.param .b32 a) {
  .reg .b32 %r;
  ld.param.b32 %r, [a];
  st.param.b32 [r], %r;
  ret;
}
)";

// `gather` with a call of the other module's function.
struct Modules {
  std::string first = ptx, other = same;
  Modules() {
    first.insert(first.find(".visible"), ".extern .func (.param .b32 r) same(.param .b32 a);\n");
    first.insert(first.find("  st.global.u32 [%rd3+64]"),
                 "  { .param .b32 a; .param .b32 r;\n  st.param.b32 [a], %r2;\n  call (r), same, (a);\n"
                 "  ld.param.b32 %r2, [r]; }\n");
  }
};

const void* linked() {
  auto* const add =
      function<Status(void*, int, void*, size_t, const char*, unsigned, int*, void**)>("cuLinkAddData_v2");
  Modules m;
  void *state = &m, *cubin = nullptr;
  size_t bytes = 0;
  add(state, 1, m.other.data(), m.other.size() + 1, "other.ptx", 0, nullptr, nullptr);
  add(state, 1, m.first.data(), m.first.size() + 1, "first.ptx", 0, nullptr, nullptr);
  function<Status(void*, void**, size_t*)>("cuLinkComplete")(state, &cubin, &bytes);
  function<Status(void*)>("cuLinkDestroy")(state);
  return cubin;
}

const void* jit_linked() {
  void* const library = dlopen("libnvJitLink.so.13", RTLD_LAZY);
  const auto find = [&]<class F>(const char* name, F*) { return reinterpret_cast<F*>(dlsym(library, name)); };
  Modules m;
  void* link = nullptr;
  const char* options[] = {"-arch=sm_90"};
  size_t bytes = 0;
  using Create = int(void**, uint32_t, const char**);
  find("__nvJitLinkCreate_13_0", static_cast<Create*>(nullptr))(&link, 1, options);
  auto* const add = find("__nvJitLinkAddData_13_0",
                         static_cast<int (*)(void*, int, const void*, size_t, const char*)>(nullptr));
  add(link, 2, m.other.data(), m.other.size() + 1, "other.ptx");
  add(link, 2, m.first.data(), m.first.size() + 1, "first.ptx");
  find("__nvJitLinkComplete_13_0", static_cast<int (*)(void*)>(nullptr))(link);
  find("__nvJitLinkGetLinkedCubinSize_13_0", static_cast<int (*)(void*, size_t*)>(nullptr))(link, &bytes);
  auto* const cubin = new char[bytes];
  find("__nvJitLinkGetLinkedCubin_13_0", static_cast<int (*)(void*, void*)>(nullptr))(link, cubin);
  find("__nvJitLinkDestroy_13_0", static_cast<int (*)(void**)>(nullptr))(&link);
  return cubin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string what = argv[1];
  const bool in_layers = what == "layers" || what == "view";
  const std::string kernel = what == "odd"                             ? "sample"
                             : what == "linked" || what == "jitlinked" ? "gather"
                             : in_layers                               ? "layers"
                                                                       : what;
  auto* const allocate = function<Status(uint64_t*, size_t)>("cuMemAlloc_v2");
  auto* const upload = function<Status(uint64_t, const void*, size_t)>("cuMemcpyHtoD_v2");
  uint64_t data = 0, texels = 0, surface = 0;
  allocate(&data, 128);
  allocate(&texels, 32);
  const uint32_t numbers[8] = {7, 6, 5, 4, 3, 2, 1, 100};
  upload(texels, numbers, sizeof numbers);
  abi::ResourceDescriptor linear{}, plane{}, written{};
  linear.type = abi::resource_linear;
  linear.of.linear = {texels, 3, 1, 32};
  plane.of.array.array = new_array(8, 2, what == "odd" ? 0xb0 : 0x20, in_layers ? 3 : 0);
  written.of.array.array = new_array(8, 1, 3);
  const uint64_t unused = new_texture(plane);
  function<Status(uint64_t)>("cuTexObjectDestroy")(unused);
  const abi::ResourceViewDescriptor view{0, 8, 2, 3, 0, 0, 1, 2, {}};
  const uint64_t line = new_texture(linear), texture = new_texture(plane, what == "view" ? &view : nullptr);
  function<Status(uint64_t*, const abi::ResourceDescriptor*)>("cuSurfObjectCreate")(&surface, &written);
  if (kernel == "gather") upload(data, &line, 8);
  void *module = nullptr, *f = nullptr;
  const void* image = ptx;
  if (what == "linked") image = linked();
  if (what == "jitlinked") image = jit_linked();
  function<Status(void**, const void*)>("cuModuleLoadData")(&module, image);
  function<Status(void**, void*, const char*)>("cuModuleGetFunction")(&f, module, kernel.c_str());
  uint32_t n = what == "view" ? 1 : what == "layers" ? 2 : 8;  // or the layer
  uint64_t handle = texture;
  void* params[] = {&data, &n, &handle, &surface};
  function<Status(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                  void**)>("cuLaunchKernel")(f, 1, 1, 1, 8, 1, 1, 0, nullptr, params, nullptr);
  return function<Status()>("cuCtxSynchronize")();
}
