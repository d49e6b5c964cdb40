// Launches: shapes, shared memory, clusters, attributes, limits of a kernel.
#include "tests/cuda/driver/answers/answers.h"

namespace palladion::answers {
namespace {

using cuda::LaunchAttribute;
using cuda::LaunchAttributeId;
using cuda::LaunchConfig;

struct Launch {
  const char* name;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {32, 1, 1};
  uint32_t shared = 0;
  int opt_in = 0;  // most dynamic shared bytes, asked for in front of the launch
  const char* directives = "";
  const char* declared = "";
  std::vector<LaunchAttribute> attributes = {};
  bool any_cluster = false;  // non-portable cluster sizes allowed
  const char* body = "";
};

LaunchAttribute flag(LaunchAttributeId id, int value = 1) {
  LaunchAttribute a{};
  a.id = id;
  a.value.flag = value;
  return a;
}
LaunchAttribute cluster(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
  LaunchAttribute a{};
  a.id = LaunchAttributeId::cluster_dimension;
  a.value.cluster = {x, y, z};
  return a;
}

void run(const Launch& l, Driver& driver) {
  void* const f = driver.kernel(
      std::string(l.declared) + "\n.visible .entry k(.param .u64 p)\n" + l.directives +
      "\n{\n.reg .b32 %r<8>; .reg .b64 %rd<8>; ld.param.u64 %rd0, [p];\n" + l.body + "ret;\n}\n");
  if (f == nullptr) return;
  if (l.opt_in != 0) driver.ask("cuFuncSetAttribute", f, 8, l.opt_in);
  if (l.any_cluster) driver.ask("cuFuncSetAttribute", f, 14, 1);
  Pointer p = driver.memory(4096);
  void* params[] = {&p};
  std::vector<LaunchAttribute> attributes = l.attributes;
  LaunchConfig config{};
  for (int i = 0; i < 3; ++i) config.grid[i] = l.grid[i], config.block[i] = l.block[i];
  config.shared_bytes = l.shared;
  config.attributes = attributes.data();
  config.attribute_count = static_cast<uint32_t>(attributes.size());
  driver.launch(f, config, params);
}

std::vector<Launch> shapes() {
  return {
      {"right", {2, 2, 2}, {8, 4, 2}},
      {"grid_0", {0, 1, 1}},
      {"grid_y_0", {1, 0, 1}},
      {"block_0", {1, 1, 1}, {0, 1, 1}},
      {"block_1024", {1, 1, 1}, {1024, 1, 1}},
      {"block_1025", {1, 1, 1}, {1025, 1, 1}},
      {"block_of_2048_in_2d", {1, 1, 1}, {64, 32, 1}},
      {"block_z_64", {1, 1, 1}, {1, 1, 64}},
      {"block_z_65", {1, 1, 1}, {1, 1, 65}},
      {"grid_y_65535", {1, 65535, 1}},
      {"grid_y_65536", {1, 65536, 1}},
      {"grid_z_65536", {1, 1, 65536}},
      {"grid_x_2_31", {0x80000000U, 1, 1}},
      {"max_threads_kept", {1, 1, 1}, {128, 1, 1}, 0, 0, ".maxntid 128"},
      {"max_threads_exceeded", {1, 1, 1}, {256, 1, 1}, 0, 0, ".maxntid 128"},
      {"max_threads_in_2d", {1, 1, 1}, {128, 1, 1}, 0, 0, ".maxntid 64, 2"},
      {"required_threads_kept", {1, 1, 1}, {128, 1, 1}, 0, 0, ".reqntid 128"},
      {"required_threads_fewer", {1, 1, 1}, {64, 1, 1}, 0, 0, ".reqntid 128"},
      {"required_threads_in_another_shape", {1, 1, 1}, {128, 1, 1}, 0, 0, ".reqntid 64, 2"},
      {"max_registers", {1, 1, 1}, {1024, 1, 1}, 0, 0, ".maxntid 1024\n.maxnreg 32"},
  };
}

std::vector<Launch> shared_memory() {
  const char* static_16 = ".shared .align 16 .b8 s[16384];";
  const char* use = "mov.u32 %r1, s; st.shared.u32 [%r1], 1;";
  return {
      {.name = "shared_48k", .shared = 49152},
      {.name = "shared_48k_and_1", .shared = 49153},
      {.name = "shared_opt_in_227k", .shared = 232448, .opt_in = 232448},
      {.name = "shared_opt_in_227k_and_1", .shared = 232449, .opt_in = 232449},
      {.name = "shared_opt_in_too_small", .shared = 65536, .opt_in = 60000},
      {.name = "shared_opt_in_negative", .opt_in = -1},
      {.name = "shared_static_and_dynamic_48k", .shared = 32768, .declared = static_16, .body = use},
      {.name = "shared_static_and_dynamic_beyond_48k", .shared = 32769, .declared = static_16, .body = use},
      {.name = "shared_static_with_opt_in",
       .shared = 216064,
       .opt_in = 216064,
       .declared = static_16,
       .body = use},
      {.name = "shared_static_with_opt_in_beyond",
       .shared = 216065,
       .opt_in = 216065,
       .declared = static_16,
       .body = use},
      {.name = "local_512k",
       .body = ".local .align 16 .b8 l[524000]; mov.u64 %rd1, l; add.u64 %rd1, %rd1, %rd0; "
               "st.local.u32 [%rd1], %r1; ld.local.u32 %r1, [%rd1+4]; st.global.u32 [%rd0], %r1;"},
      {.name = "const_64k_and_4",
       .declared = ".const .align 4 .b8 c[65540];",
       .body = "mov.u64 %rd1, c; ld.const.u32 %r1, [%rd1]; st.global.u32 [%rd0], %r1;"},
  };
}

// A launch of `ctas` CTAs with one attribute or none.
Launch with(const char* name, uint32_t ctas, std::vector<LaunchAttribute> attributes) {
  return {.name = name, .grid = {ctas, 1, 1}, .attributes = std::move(attributes)};
}
// One that may have any size of cluster.
Launch allowed(const char* name, uint32_t size) {
  Launch l = with(name, size, {cluster(size)});
  l.any_cluster = true;
  return l;
}
Launch directed(const char* name, uint32_t ctas, const char* directives,
                std::vector<LaunchAttribute> attributes = {}) {
  Launch l = with(name, ctas, std::move(attributes));
  l.directives = directives;
  return l;
}

std::vector<Launch> clusters() {
  Launch large = allowed("cluster_of_large_shared", 16), wide = allowed("cluster_of_1024_threads", 16);
  large.shared = 232448;
  large.opt_in = 232448;
  wide.block[0] = 1024;
  return {
      with("cluster_2", 4, {cluster(2)}),
      with("cluster_8", 8, {cluster(8)}),
      with("cluster_2_of_grid_3", 3, {cluster(2)}),
      with("cluster_9", 9, {cluster(9)}),
      with("cluster_16", 16, {cluster(16)}),
      allowed("cluster_16_allowed", 16),
      allowed("cluster_12_allowed", 12),
      allowed("cluster_32_allowed", 32),
      with("cluster_0", 4, {cluster(0)}),
      {.name = "cluster_in_3d", .grid = {4, 4, 4}, .attributes = {cluster(2, 2, 2)}},
      with("cluster_3_of_grid_3", 3, {cluster(3)}),
      directed("required_cluster", 4, ".reqnctapercluster 2"),
      directed("required_cluster_of_grid_3", 3, ".reqnctapercluster 2"),
      directed("required_cluster_and_the_same", 4, ".reqnctapercluster 2", {cluster(2)}),
      directed("required_cluster_and_another", 4, ".reqnctapercluster 2", {cluster(4)}),
      directed("explicit_cluster_without_one", 4, ".explicitcluster"),
      directed("max_cluster_exceeded", 8, ".explicitcluster .maxclusterrank 2", {cluster(4)}),
      large,
      wide,
  };
}

std::vector<Launch> attributes() {
  using enum LaunchAttributeId;
  Launch large = with("cooperative_too_large", 100000, {flag(cooperative)});
  large.block[0] = 1024;
  Launch by_shared = with("cooperative_by_shared", 265, {flag(cooperative)});
  by_shared.shared = 116000;
  by_shared.opt_in = 116000;
  return {
      with("cooperative", 132, {flag(cooperative)}),
      large,
      by_shared,
      with("cooperative_cluster", 8, {flag(cooperative), cluster(2)}),
      with("attribute_ignored", 1, {flag(ignore)}),
      with("attribute_unknown", 1, {flag(static_cast<LaunchAttributeId>(99))}),
      with("programmatic_serialization", 1, {flag(programmatic_stream_serialization)}),
      with("priority", 1, {flag(LaunchAttributeId::priority, -3)}),
      with("carveout", 1, {flag(shared_memory_carveout, 101)}),
  };
}

void ask_function_attributes(Driver& driver, const char* directives, const char* declared, const char* body) {
  void* const f = driver.kernel(std::string(declared) + "\n.visible .entry k(.param .u64 p)\n" + directives +
                                "\n{\n.reg .b32 %r<40>; .reg .b64 %rd<8>; ld.param.u64 %rd0, [p];\n" + body +
                                "\nret;\n}\n");
  if (f == nullptr) return;
  for (const int attribute : {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 14}) {
    int value = -1;
    const Status status = driver.call("cuFuncGetAttribute", &value, attribute, f);
    driver.say(std::to_string(attribute) + ": " +
               (status == cuda::success ? std::to_string(value) : "status " + std::to_string(status)));
  }
}

void ask_occupancy(Driver& driver, const char* directives, int block, size_t shared) {
  void* const f =
      driver.kernel(std::string(".visible .entry k(.param .u64 p)\n") + directives + "\n{\nret;\n}\n");
  if (f == nullptr) return;
  if (shared > 49152) driver.ask("cuFuncSetAttribute", f, 8, static_cast<int>(shared));
  int blocks = -1;
  driver.ask("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, f, block, shared);
  driver.say("blocks " + std::to_string(blocks));
}

// What a caller gets wrong about the call itself.
std::vector<Case> calls() {
  return {
      {"launch_null_function",
       [](Driver& d) {
         d.ask("cuLaunchKernel", static_cast<void*>(nullptr), 1U, 1U, 1U, 32U, 1U, 1U, 0U,
               static_cast<void*>(nullptr), static_cast<void**>(nullptr), static_cast<void**>(nullptr));
       }},
      {"launch_without_parameters",
       [](Driver& d) {
         void* f = d.kernel(".visible .entry k(.param .u64 p) { ret; }");
         d.ask("cuLaunchKernel", f, 1U, 1U, 1U, 32U, 1U, 1U, 0U, static_cast<void*>(nullptr),
               static_cast<void**>(nullptr), static_cast<void**>(nullptr));
       }},
      {"launch_with_parameters_and_extra",
       [](Driver& d) {
         void* f = d.kernel(".visible .entry k(.param .u64 p) { ret; }");
         uint64_t p = 0;
         size_t bytes = 8;
         void* params[] = {&p};
         void* extra[] = {reinterpret_cast<void*>(1), &p, reinterpret_cast<void*>(2), &bytes, nullptr};
         d.ask("cuLaunchKernel", f, 1U, 1U, 1U, 32U, 1U, 1U, 0U, static_cast<void*>(nullptr),
               static_cast<void**>(params), static_cast<void**>(extra));
       }},
      {"launch_with_extra_too_short",
       [](Driver& d) {
         void* f = d.kernel(".visible .entry k(.param .u64 p) { ret; }");
         uint64_t p = 0;
         size_t bytes = 4;
         void* extra[] = {reinterpret_cast<void*>(1), &p, reinterpret_cast<void*>(2), &bytes, nullptr};
         d.ask("cuLaunchKernel", f, 1U, 1U, 1U, 32U, 1U, 1U, 0U, static_cast<void*>(nullptr),
               static_cast<void**>(nullptr), static_cast<void**>(extra));
       }},
      {"function_attributes", [](Driver& d) { ask_function_attributes(d, "", "", ""); }},
      {"function_attributes_of_memories",
       [](Driver& d) {
         ask_function_attributes(d, ".maxntid 256",
                                 ".shared .align 16 .b8 s[1000]; .const .align 4 .b8 c[100];",
                                 ".local .align 8 .b8 l[100]; mov.u32 %r1, s; st.volatile.shared.u32 [%r1], "
                                 "1; mov.u64 %rd1, l; add.u64 %rd1, %rd1, %rd0; st.local.u32 [%rd1], 1; "
                                 "mov.u64 %rd2, c; ld.const.u32 %r2, [%rd2]; st.global.u32 [%rd0], %r2;");
       }},
      {"function_attributes_of_a_cluster",
       [](Driver& d) { ask_function_attributes(d, ".reqntid 64\n.reqnctapercluster 2", "", ""); }},
      {"occupancy_of_128", [](Driver& d) { ask_occupancy(d, "", 128, 0); }},
      {"occupancy_of_1024", [](Driver& d) { ask_occupancy(d, "", 1024, 0); }},
      {"occupancy_of_32", [](Driver& d) { ask_occupancy(d, "", 32, 0); }},
      {"occupancy_of_100k", [](Driver& d) { ask_occupancy(d, "", 128, 100 << 10); }},
      {"occupancy_of_227k", [](Driver& d) { ask_occupancy(d, "", 128, 227 << 10); }},
      {"occupancy_beyond_shared", [](Driver& d) { ask_occupancy(d, "", 128, 228 << 10); }},
      {"occupancy_beyond_max_threads", [](Driver& d) { ask_occupancy(d, ".maxntid 128", 256, 0); }},
      {"occupancy_of_0", [](Driver& d) { ask_occupancy(d, "", 0, 0); }},
  };
}

}  // namespace

std::vector<Case> launch_cases() {
  std::vector<Case> cases;
  for (auto* const of : {shapes, shared_memory, clusters, attributes})
    for (const Launch& l : of())
      cases.push_back({std::string("launch_") + l.name, [l](Driver& driver) { run(l, driver); }});
  for (Case& c : calls()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace palladion::answers
