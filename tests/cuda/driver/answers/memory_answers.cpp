// Calls about memory and modules.
#include <array>

#include "tests/cuda/driver/answers/calls.h"

namespace palladion::answers {

std::vector<Case> memory_cases() {
  return {
      {"alloc_0",
       [](Driver& d) {
         Pointer p = 0;
         d.ask("cuMemAlloc_v2", &p, size_t{0});
       }},
      {"alloc_1_tib",
       [](Driver& d) {
         Pointer p = 0;
         d.ask("cuMemAlloc_v2", &p, size_t{1} << 40);
       }},
      {"free_null", [](Driver& d) { d.ask("cuMemFree_v2", Pointer{0}); }},
      {"free_unknown", [](Driver& d) { d.ask("cuMemFree_v2", Pointer{0x12345000}); }},
      {"free_inside", [](Driver& d) { d.ask("cuMemFree_v2", d.memory(4096) + 256); }},
      {"free_twice",
       [](Driver& d) {
         const Pointer p = d.memory(4096);
         d.ask("cuMemFree_v2", p);
         d.ask("cuMemFree_v2", p);
       }},
      {"copy_0",
       [](Driver& d) {
         int x = 0;
         d.ask("cuMemcpyHtoD_v2", d.memory(4096), static_cast<const void*>(&x), size_t{0});
       }},
      {"copy_0_to_null",
       [](Driver& d) {
         int x = 0;
         d.ask("cuMemcpyHtoD_v2", Pointer{0}, static_cast<const void*>(&x), size_t{0});
       }},
      {"copy_to_null",
       [](Driver& d) {
         int x = 0;
         d.ask("cuMemcpyHtoD_v2", Pointer{0}, static_cast<const void*>(&x), size_t{4});
       }},
      {"copy_from_null",
       [](Driver& d) {
         int x = 0;
         d.ask("cuMemcpyDtoH_v2", static_cast<void*>(&x), Pointer{0}, size_t{4});
       }},
      {"copy_beyond_to_device",
       [](Driver& d) {
         std::vector<char> x(8 << 20);
         d.ask("cuMemcpyHtoD_v2", d.memory(2 << 20), static_cast<const void*>(x.data()), x.size());
       }},
      {"copy_beyond_to_host",
       [](Driver& d) {
         std::vector<char> x(8 << 20);
         d.ask("cuMemcpyDtoH_v2", static_cast<void*>(x.data()), d.memory(2 << 20), x.size());
       }},
      {"copy_to_a_host_pointer",
       [](Driver& d) {
         std::vector<char> x(4096), y(4096);
         d.ask("cuMemcpyHtoD_v2", reinterpret_cast<Pointer>(y.data()), static_cast<const void*>(x.data()),
               size_t{64});
       }},
      {"copy_to_freed",
       [](Driver& d) {
         std::vector<char> x(4096);
         const Pointer p = d.memory(64 << 20);
         d.call("cuMemFree_v2", p);
         d.ask("cuMemcpyHtoD_v2", p, static_cast<const void*>(x.data()), size_t{64});
       }},
      {"memset_null",
       [](Driver& d) { d.ask("cuMemsetD8_v2", Pointer{0}, static_cast<unsigned char>(1), size_t{16}); }},
      {"memset_0",
       [](Driver& d) { d.ask("cuMemsetD8_v2", d.memory(4096), static_cast<unsigned char>(1), size_t{0}); }},
      {"memset_misaligned", [](Driver& d) { d.ask("cuMemsetD32_v2", d.memory(4096) + 2, 1U, size_t{16}); }},
      {"memset_beyond", [](Driver& d) { d.ask("cuMemsetD32_v2", d.memory(2 << 20), 1U, size_t{2} << 20); }},
      {"memset_2d_pitch_too_small",
       [](Driver& d) {
         d.ask("cuMemsetD2D8_v2", d.memory(4096), size_t{8}, static_cast<unsigned char>(1), size_t{16},
               size_t{4});
       }},
      {"host_alloc_0",
       [](Driver& d) {
         Handle p = nullptr;
         d.ask("cuMemHostAlloc", &p, size_t{0}, 0U);
       }},
      {"host_alloc_flags",
       [](Driver& d) {
         Handle p = nullptr;
         d.ask("cuMemHostAlloc", &p, size_t{4096}, 0x100U);
       }},
      {"host_free_unknown",
       [](Driver& d) {
         int x = 0;
         d.ask("cuMemFreeHost", static_cast<void*>(&x));
       }},
      {"host_register_twice",
       [](Driver& d) {
         static std::array<char, 65536> x;
         Handle p = x.data();
         d.ask("cuMemHostRegister_v2", p, size_t{4096}, 0U);
         d.ask("cuMemHostRegister_v2", p, size_t{4096}, 0U);
       }},
      {"host_unregister_unknown",
       [](Driver& d) {
         static std::array<char, 65536> x;
         d.ask("cuMemHostUnregister", static_cast<void*>(x.data()));
       }},
      {"host_device_pointer_unknown",
       [](Driver& d) {
         int x = 0;
         Pointer p = 0;
         d.ask("cuMemHostGetDevicePointer_v2", &p, static_cast<void*>(&x), 0U);
       }},
      {"managed_flags_0",
       [](Driver& d) {
         Pointer p = 0;
         d.ask("cuMemAllocManaged", &p, size_t{4096}, 0U);
       }},
      {"managed_0",
       [](Driver& d) {
         Pointer p = 0;
         d.ask("cuMemAllocManaged", &p, size_t{0}, 1U);
       }},
      {"range_of_freed",
       [](Driver& d) {
         Pointer p = d.memory(64 << 20), base = 0;
         size_t n = 0;
         d.call("cuMemFree_v2", p);
         d.ask("cuMemGetAddressRange_v2", &base, &n, p);
       }},
      {"range_of_inside",
       [](Driver& d) {
         Pointer p = d.memory(5000), base = 0;
         size_t n = 0;
         d.ask("cuMemGetAddressRange_v2", &base, &n, p + 100);
         d.say(std::to_string(p - base) + " " + std::to_string(n));
       }},
      {"attribute_of_a_host_pointer",
       [](Driver& d) {
         int x = 0;
         unsigned type = 0;
         d.ask("cuPointerGetAttribute", static_cast<void*>(&type), 2, reinterpret_cast<Pointer>(&x));
       }},
      {"attribute_of_a_device_pointer",
       [](Driver& d) {
         unsigned type = 0;
         d.ask("cuPointerGetAttribute", static_cast<void*>(&type), 2, d.memory(4096));
         d.say(std::to_string(type));
       }},
      {"attribute_unknown",
       [](Driver& d) {
         unsigned type = 0;
         d.ask("cuPointerGetAttribute", static_cast<void*>(&type), 999, d.memory(4096));
       }},
      {"alloc_alignment",
       [](Driver& d) {
         const Pointer a = d.memory(1), b = d.memory(1);
         d.say(std::to_string((a | b) % 512));
       }},
      {"pitch_of_100",
       [](Driver& d) {
         Pointer p = 0;
         size_t pitch = 0;
         d.ask("cuMemAllocPitch_v2", &p, &pitch, size_t{100}, size_t{3}, 4U);
         d.say(std::to_string(pitch));
       }},
      {"pitch_element_of_3",
       [](Driver& d) {
         Pointer p = 0;
         size_t pitch = 0;
         d.ask("cuMemAllocPitch_v2", &p, &pitch, size_t{100}, size_t{3}, 3U);
       }},
      {"free_async_null", [](Driver& d) { d.ask("cuMemFreeAsync", Pointer{0}, stream(d)); }},
      {"free_async_twice",
       [](Driver& d) {
         Pointer p = 0;
         Handle s = stream(d);
         d.ask("cuMemAllocAsync", &p, size_t{4096}, s);
         d.ask("cuMemFreeAsync", p, s);
         d.ask("cuMemFreeAsync", p, s);
       }},
      {"free_async_of_alloc", [](Driver& d) { d.ask("cuMemFreeAsync", d.memory(4096), stream(d)); }},
      {"free_of_alloc_async",
       [](Driver& d) {
         Pointer p = 0;
         Handle s = stream(d);
         d.ask("cuMemAllocAsync", &p, size_t{4096}, s);
         d.ask("cuMemFree_v2", p);
       }},
  };
}

std::vector<Case> module_cases() {
  const auto load = [](Driver& d, const std::string& text) {
    Handle m = nullptr;
    d.ask("cuModuleLoadData", &m, static_cast<const void*>(text.c_str()));
    return m;
  };
  const std::string head = ".version 8.6\n.target sm_90\n.address_size 64\n";
  return {
      {"module_empty", [=](Driver& d) { load(d, ""); }},
      {"module_of_words", [=](Driver& d) { load(d, "this is not a module"); }},
      {"module_syntax_error",
       [=](Driver& d) { load(d, head + ".visible .entry k() { add.u32 %r1, %r2; ret; }"); }},
      {"module_undeclared_register",
       [=](Driver& d) { load(d, head + ".visible .entry k() { mov.u32 %r1, 1; ret; }"); }},
      {"module_unresolved",
       [=](Driver& d) { load(d, head + ".extern .func f(); .visible .entry k() { call f, (); ret; }"); }},
      {"module_of_sm_100a",
       [=](Driver& d) {
         load(d, ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }");
       }},
      {"module_of_sm_100",
       [=](Driver& d) {
         load(d, ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }");
       }},
      {"module_of_sm_50",
       [=](Driver& d) {
         load(d, ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }");
       }},
      {"module_of_version_99",
       [=](Driver& d) {
         load(d, ".version 99.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }");
       }},
      {"module_feature_of_another_target",
       [=](Driver& d) {
         load(d, head + ".visible .entry k() { setmaxnreg.dec.sync.aligned.u32 64; ret; }");
       }},
      {"module_without_kernels", [=](Driver& d) { load(d, head); }},
      {"module_function_unknown",
       [=](Driver& d) {
         Handle m = load(d, head + ".visible .entry k() { ret; }"), f = nullptr;
         d.ask("cuModuleGetFunction", &f, m, "absent");
       }},
      {"module_global_unknown",
       [=](Driver& d) {
         Handle m = load(d, head + ".visible .entry k() { ret; }");
         Pointer p = 0;
         size_t n = 0;
         d.ask("cuModuleGetGlobal_v2", &p, &n, m, "absent");
       }},
      {"module_file_unknown",
       [](Driver& d) {
         Handle m = nullptr;
         d.ask("cuModuleLoad", &m, "/no/such/file.ptx");
       }},
      {"library_unload",
       [=](Driver& d) {
         Handle m = load(d, head + ".visible .entry k() { ret; }");
         d.ask("cuModuleUnload", m);
       }},
      {"function_attribute_unknown",
       [](Driver& d) {
         Handle f = d.kernel(nothing);
         int x = 0;
         d.ask("cuFuncGetAttribute", &x, 99, f);
         d.ask("cuFuncSetAttribute", f, 99, 1);
         d.ask("cuFuncSetAttribute", f, 4, 1);
       }},
      {"function_name",
       [](Driver& d) {
         Handle f = d.kernel(nothing);
         const char* name = nullptr;
         d.ask("cuFuncGetName", &name, f);
         d.say(name != nullptr ? name : "none");
       }},
  };
}

}  // namespace palladion::answers
