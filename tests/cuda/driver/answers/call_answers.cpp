// Calls about tensor maps, contexts and limits, and what follows a fault.
#include <array>

#include "tests/cuda/driver/answers/calls.h"

namespace palladion::answers {
namespace {

// A tensor map of 2 dimensions, of which one thing is wrong.
struct Map {
  int type = 7;  // float32
  unsigned rank = 2;
  Pointer address_offset = 0;
  std::array<uint64_t, 5> dims{64, 64, 4, 4, 4};
  std::array<uint64_t, 4> strides{256, 16384, 65536, 262144};
  std::array<uint32_t, 5> box{16, 16, 1, 1, 1}, steps{1, 1, 1, 1, 1};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};
Case map_case(const char* name, const std::function<void(Map&)>& change) {
  return {std::string("tensor_map_") + name, [change](Driver& d) {
            Map m;
            change(m);
            alignas(128) cuda::OpaqueTensorMap map{};
            d.ask("cuTensorMapEncodeTiled", &map, m.type, m.rank,
                  reinterpret_cast<void*>(d.memory(8 << 20) + m.address_offset),
                  static_cast<const uint64_t*>(m.dims.data()), static_cast<const uint64_t*>(m.strides.data()),
                  static_cast<const uint32_t*>(m.box.data()), static_cast<const uint32_t*>(m.steps.data()),
                  m.interleave, m.swizzle, m.promotion, m.fill);
          }};
}
std::vector<Case> tensor_maps() {
  return {
      map_case("right", [](Map&) {}),
      map_case("rank_0", [](Map& m) { m.rank = 0; }),
      map_case("rank_6", [](Map& m) { m.rank = 6; }),
      map_case("rank_5", [](Map& m) { m.rank = 5; }),
      map_case("type_unknown", [](Map& m) { m.type = 99; }),
      map_case("misaligned", [](Map& m) { m.address_offset = 8; }),
      map_case("dimension_0", [](Map& m) { m.dims[1] = 0; }),
      map_case("dimension_2_32", [](Map& m) { m.dims[1] = uint64_t{1} << 32; }),
      map_case("dimension_beyond_2_32", [](Map& m) { m.dims[1] = (uint64_t{1} << 32) + 1; }),
      map_case("stride_of_8", [](Map& m) { m.strides[0] = 264; }),
      map_case("stride_too_small", [](Map& m) { m.strides[0] = 128; }),
      map_case("stride_0", [](Map& m) { m.strides[0] = 0; }),
      map_case("stride_2_40", [](Map& m) { m.strides[0] = uint64_t{1} << 40; }),
      map_case("box_0", [](Map& m) { m.box[1] = 0; }),
      map_case("box_256", [](Map& m) { m.box[1] = 256; }),
      map_case("box_257", [](Map& m) { m.box[1] = 257; }),
      map_case("box_beyond_the_tensor", [](Map& m) { m.box[0] = 128; }),
      map_case("box_row_of_8_bytes", [](Map& m) { m.box[0] = 2; }),
      map_case("step_0", [](Map& m) { m.steps[1] = 0; }),
      map_case("step_8", [](Map& m) { m.steps[1] = 8; }),
      map_case("step_9", [](Map& m) { m.steps[1] = 9; }),
      map_case("swizzle_128_too_wide",
               [](Map& m) {
                 m.swizzle = 3;
                 m.box[0] = 64;
               }),
      map_case("swizzle_128",
               [](Map& m) {
                 m.swizzle = 3;
                 m.box[0] = 32;
               }),
      map_case("swizzle_32_too_wide", [](Map& m) { m.swizzle = 1; }),
      map_case("swizzle_unknown", [](Map& m) { m.swizzle = 77; }),
      map_case("interleave_16_of_rank_2", [](Map& m) { m.interleave = 1; }),
      map_case("interleave_32_without_swizzle",
               [](Map& m) {
                 m.interleave = 2;
                 m.rank = 3;
               }),
      map_case("fill_of_integers",
               [](Map& m) {
                 m.fill = 1;
                 m.type = 3;
               }),
      map_case("fill", [](Map& m) { m.fill = 1; }),
      map_case("promotion_unknown", [](Map& m) { m.promotion = 9; }),
      map_case("box_too_large_for_shared",
               [](Map& m) {
                 m.box = {256, 256, 1, 1, 1};
                 m.dims = {1024, 1024, 1, 1, 1};
                 m.strides[0] = 4096;
               }),
  };
}

std::vector<Case> contexts() {
  return {
      {"device_5",
       [](Driver& d) {
         int x = 0;
         d.ask("cuDeviceGet", &x, 99);
       }},
      {"device_attribute_unknown",
       [](Driver& d) {
         int x = 0;
         d.ask("cuDeviceGetAttribute", &x, 9999, 0);
       }},
      {"device_attribute_of_device_99",
       [](Driver& d) {
         int x = 0;
         d.ask("cuDeviceGetAttribute", &x, 1, 99);
       }},
      {"limit_unknown",
       [](Driver& d) {
         size_t x = 0;
         d.ask("cuCtxGetLimit", &x, 77);
       }},
      {"limit_stack_beyond", [](Driver& d) { d.ask("cuCtxSetLimit", 0, size_t{1} << 30); }},
      {"limit_stack_512k",
       [](Driver& d) {
         size_t x = 0;
         d.ask("cuCtxSetLimit", 0, size_t{523264});
         d.ask("cuCtxGetLimit", &x, 0);
         d.say(std::to_string(x));
       }},
      {"limit_stack_rounding",
       [](Driver& d) {
         size_t x = 0;
         d.ask("cuCtxSetLimit", 0, size_t{1001});
         d.ask("cuCtxGetLimit", &x, 0);
         d.say(std::to_string(x));
       }},
      {"error_name_unknown",
       [](Driver& d) {
         const char* s = nullptr;
         d.ask("cuGetErrorName", 123456, &s);
         d.say(s != nullptr ? s : "none");
       }},
      {"proc_address_unknown",
       [](Driver& d) {
         Handle f = nullptr;
         int found = 9;
         d.ask("cuGetProcAddress_v2", "cuNoSuchCall", &f, 13000, uint64_t{0}, &found);
         d.say(std::to_string(found));
       }},
      {"init_flags", [](Driver& d) { d.ask("cuInit", 1U); }},
      {"current_none",
       [](Driver& d) {
         d.call("cuCtxSetCurrent", Handle{});
         Pointer p = 0;
         d.ask("cuMemAlloc_v2", &p, size_t{64});
         d.ask("cuCtxSynchronize");
         d.ask("cuStreamQuery", Handle{});
       }},
  };
}

// CUlimit.
std::vector<Case> limits() {
  std::vector<Case> cases;
  for (const int limit : {0, 1, 2, 3, 4, 5, 6})
    cases.push_back({"limit_" + std::to_string(limit), [limit](Driver& d) {
                       size_t x = 0;
                       d.ask("cuCtxGetLimit", &x, limit);
                       d.say(std::to_string(x));
                     }});
  return cases;
}

// A call behind a kernel that stored to NULL.
Case behind(const char* name, const std::function<void(Driver&)>& then) {
  return {std::string("after_fault_") + name, [then](Driver& d) {
            Handle f = d.kernel(stores_to_null), s = stream(d);
            launch_on(d, f, s);
            d.ask("cuStreamSynchronize", s);
            then(d);
          }};
}

std::vector<Case> after_a_fault() {
  return {
      behind("alloc",
             [](Driver& d) {
               Pointer p = 0;
               d.ask("cuMemAlloc_v2", &p, size_t{64});
             }),
      behind("free", [](Driver& d) { d.ask("cuMemFree_v2", Pointer{0}); }),
      behind("copy",
             [](Driver& d) {
               int x = 0;
               d.ask("cuMemcpyDtoH_v2", static_cast<void*>(&x), Pointer{0x7000000}, size_t{4});
             }),
      behind("stream_create",
             [](Driver& d) {
               Handle s = nullptr;
               d.ask("cuStreamCreate", &s, 0U);
             }),
      behind("stream_query", [](Driver& d) { d.ask("cuStreamQuery", Handle{}); }),
      behind("event_create",
             [](Driver& d) {
               Handle e = nullptr;
               d.ask("cuEventCreate", &e, 0U);
             }),
      behind("module_load", [](Driver& d) { d.kernel(nothing); }),
      behind("synchronize",
             [](Driver& d) {
               d.ask("cuCtxSynchronize");
               d.ask("cuCtxSynchronize");
             }),
      behind("limit",
             [](Driver& d) {
               size_t x = 0;
               d.ask("cuCtxGetLimit", &x, 0);
             }),
      behind("device_attribute",
             [](Driver& d) {
               int x = 0;
               d.ask("cuDeviceGetAttribute", &x, 1, 0);
             }),
      behind("memory_info",
             [](Driver& d) {
               size_t a = 0, b = 0;
               d.ask("cuMemGetInfo_v2", &a, &b);
             }),
      behind("host_alloc",
             [](Driver& d) {
               Handle p = nullptr;
               d.ask("cuMemHostAlloc", &p, size_t{64}, 0U);
             }),
      behind("context_current",
             [](Driver& d) {
               Handle c = nullptr;
               d.ask("cuCtxGetCurrent", &c);
             }),
      behind("reset",
             [](Driver& d) {
               d.ask("cuDevicePrimaryCtxReset_v2", 0);
               Handle c = nullptr;
               d.ask("cuDevicePrimaryCtxRetain", &c, 0);
               d.ask("cuCtxSetCurrent", c);
               Pointer p = 0;
               d.ask("cuMemAlloc_v2", &p, size_t{64});
             }),
  };
}

}  // namespace

std::vector<Case> call_cases() {
  std::vector<Case> cases;
  for (auto* const of : {memory_cases, module_cases, stream_cases, capture_cases, tensor_maps, contexts,
                         limits, after_a_fault})
    for (Case& c : of()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace palladion::answers
