// Kernels that fault, or whose values the manuals leave open.
#include <array>
#include <cstring>

#include "tests/cuda/driver/answers/kernel.h"

namespace palladion::answers {
namespace {

std::string text(const Kernel& k) {
  return k.declared +
         "\n.visible .entry k(.param .u64 p, .param .u64 a)\n{\n"
         ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<16>; .reg "
         ".f64 "
         "%d<8>;\n"
         "ld.param.u64 %rd0, [p]; ld.param.u64 %rd1, [a]; mov.u32 %r0, %tid.x;\n" +
         k.body + "\nret;\n}\n";
}

void run(const Kernel& k, Driver& driver) {
  void* const f = driver.kernel(text(k));
  if (f == nullptr) return;
  if (k.shared > 48 * 1024) driver.call("cuFuncSetAttribute", f, 8, static_cast<int>(k.shared));
  Pointer p = driver.memory(1 << 20), a = k.argument;
  driver.call("cuMemsetD32_v2", p, 0xabcd0123U, size_t{1} << 18);
  driver.call("cuCtxSynchronize");
  void* params[] = {&p, &a};
  cuda::LaunchAttribute cluster{};
  cluster.id = cuda::LaunchAttributeId::cluster_dimension;
  cluster.value.cluster = {k.cluster, 1, 1};
  const bool clustered = k.cluster > 1;
  if (driver.launch(f,
                    {{k.grid, 1, 1},
                     {k.block, 1, 1},
                     k.shared,
                     nullptr,
                     clustered ? &cluster : nullptr,
                     clustered ? 1U : 0U},
                    params) != cuda::success)
    return;
  std::vector<uint32_t> words(k.words);
  if (words.empty()) return;
  driver.call("cuMemcpyDtoH_v2", static_cast<void*>(words.data()), p, words.size() * 4);
  std::string said = "words";
  std::array<char, 16> hex{};
  for (const uint32_t w : words) {
    std::snprintf(hex.data(), hex.size(), " %x", w);
    said += hex.data();
  }
  driver.say(said);
}

const std::string shared_array = ".shared .align 128 .b8 s[1024];";

// An address in bytes behind the memory, as %rd2.
std::string beyond(const char* bytes) { return std::string("add.u64 %rd2, %rd0, ") + bytes + ";"; }

std::vector<Kernel> addresses() {
  return {
      {"store_null", "st.global.u32 [%rd1], 1;"},
      {"load_null", "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd0], %r1;"},
      {"generic_store_null", "st.u32 [%rd1], 1;"},
      {"atomic_null", "atom.global.add.u32 %r1, [%rd1], 1;"},
      {"red_null", "red.global.add.u32 [%rd1], 1;"},
      {"store_far", beyond("0x10000000000") + "st.global.u32 [%rd2], 1;"},
      {"load_far", beyond("0x10000000000") + "ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd0], %r1;"},
      {"load_nc_null", "ld.global.nc.u32 %r1, [%rd1]; st.global.u32 [%rd0], %r1;"},
      {"store_non_canonical", "mov.u64 %rd2, 0x8000000000000000; st.global.u32 [%rd2], 1;"},
      {"prefetch_null", "prefetch.global.L2 [%rd1];"},
      {"prefetch_far", beyond("0x10000000000") + "prefetch.global.L1 [%rd2];"},
      {"predicated_off", "setp.eq.u32 %p0, %r0, 99; @%p0 st.global.u32 [%rd1], 1;"},
      {"store_misaligned", beyond("2") + "st.global.u32 [%rd2], 1;"},
      {"load_misaligned", beyond("1") + "ld.global.u16 %h1, [%rd2]; st.global.u16 [%rd0], %h1;"},
      {"load_v4_misaligned",
       beyond("8") +
           "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd2]; st.global.v4.u32 [%rd0], {%r1,%r2,%r3,%r4};"},
      {"store_v2_misaligned", beyond("4") + "st.global.v2.u32 [%rd2], {%r0,%r0};"},
      {"load_f64_misaligned", beyond("4") + "ld.global.f64 %d1, [%rd2]; st.global.f64 [%rd0], %d1;"},
      {"atomic_misaligned", beyond("2") + "atom.global.add.u32 %r1, [%rd2], 1;"},
      {"atomic_u64_misaligned", beyond("4") + "atom.global.add.u64 %rd3, [%rd2], 1;"},
      {"cas_u16_misaligned", beyond("1") + "mov.u16 %h0, 1; atom.global.cas.b16 %h1, [%rd2], %h0, %h0;"},
      {"generic_misaligned", beyond("2") + "st.u32 [%rd2], 1;"},
      {"shared_misaligned", "mov.u32 %r1, s; add.u32 %r1, %r1, 2; st.shared.u32 [%r1], 1;", 32, 1, 1, 0, 0,
       shared_array},
      {"shared_v4_misaligned",
       "mov.u32 %r1, s; ld.shared.v4.u32 {%r2,%r3,%r4,%r5}, [%r1+8]; st.global.v4.u32 [%rd0], "
       "{%r2,%r3,%r4,%r5};",
       32, 1, 1, 0, 0, shared_array},
      {"shared_atomic_misaligned", "mov.u32 %r1, s; atom.shared.add.u32 %r2, [%r1+2], 1;", 32, 1, 1, 0, 0,
       shared_array},
      {"shared_far", "mov.u32 %r1, 0x100000; st.shared.u32 [%r1], 1;", 32, 1, 1, 0, 0, shared_array},
      {"shared_256k", "mov.u32 %r1, 0x40000; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd0], %r2;", 32, 1, 1,
       0, 0, shared_array},
      {"shared_beyond_by_64k",
       "mov.u32 %r1, s; add.u32 %r1, %r1, 0x10000; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd0], %r2;", 32,
       1, 1, 0, 0, shared_array},
      {"shared_beyond_by_2k",
       "mov.u32 %r1, s; add.u32 %r1, %r1, 0x800; st.shared.u32 [%r1], 7; ld.shared.u32 %r2, [%r1]; "
       "st.global.u32 [%rd0], %r2;",
       32, 1, 1, 0, 0, shared_array},
      {"shared_negative", "mov.u32 %r1, 0xfffffffc; st.shared.u32 [%r1], 1;", 32, 1, 1, 0, 0, shared_array},
      {"generic_of_shared_beyond",
       "mov.u32 %r1, 0x100000; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; st.u32 [%rd2], 1;", 32, 1,
       1, 0, 0, shared_array},
      {"generic_of_shared",
       "mov.u32 %r1, s; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; st.u32 [%rd2], 7; ld.u32 %r2, "
       "[%rd2]; st.global.u32 [%rd0], %r2;",
       32, 1, 1, 0, 1, shared_array},
      {"shared_address_as_global",
       "mov.u32 %r1, s; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; st.global.u32 [%rd2], 7;", 32, 1,
       1, 0, 0, shared_array},
      {"atomic_on_generic_shared",
       "mov.u32 %r1, s; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; st.u32 [%rd2], 7; atom.add.u32 "
       "%r2, [%rd2], 1; st.global.u32 [%rd0], %r2;",
       1, 1, 1, 0, 1, shared_array},
      {"local_misaligned",
       ".local .align 16 .b8 l[64]; mov.u64 %rd2, l; add.u64 %rd2, %rd2, %rd1; st.local.u32 [%rd2], %r0; "
       "ld.local.u32 %r1, [%rd2]; st.global.u32 [%rd0], %r1;",
       32, 1, 1, 0, 0, "", 2},
      {"local_far",
       ".local .align 16 .b8 l[64]; mov.u64 %rd2, l; add.u64 %rd2, %rd2, %rd1; st.local.u32 [%rd2], %r0; "
       "ld.local.u32 %r1, [%rd2]; st.global.u32 [%rd0], %r1;",
       32, 1, 1, 0, 0, "", 0x1000000},
      {"atomic_on_local",
       ".local .align 16 .b8 l[64]; mov.u64 %rd2, l; add.u64 %rd2, %rd2, %rd1; cvta.local.u64 %rd2, %rd2; "
       "st.u32 [%rd2], 7; atom.add.u32 %r1, [%rd2], 1; st.global.u32 [%rd0], %r1;"},
      {"const_beyond", "mov.u64 %rd2, c; ld.const.u32 %r1, [%rd2+0x20000]; st.global.u32 [%rd0], %r1;", 32, 1,
       1, 0, 0, ".const .align 4 .b8 c[64];"},
      {"const_misaligned",
       "mov.u64 %rd2, c; mul.wide.u32 %rd3, %r0, 0; add.u64 %rd2, %rd2, %rd3; add.u64 %rd2, %rd2, 2; "
       "ld.const.u32 %r1, [%rd2]; st.global.u32 [%rd0], %r1;",
       32, 1, 1, 0, 0, ".const .align 4 .b8 c[64];"},
      {"discard_misaligned", beyond("64") + "discard.global.L2 [%rd2], 128;"},
      {"applypriority_misaligned", beyond("64") + "applypriority.global.L2::evict_normal [%rd2], 128;"},
  };
}

std::vector<Kernel> control() {
  return {
      {"trap", "trap;"},
      {"breakpoint", "brkpt;"},
      {"exit_early", "exit;"},
      {"call_null", "prototype: .callprototype _ (); call %rd1, (), prototype;"},
      {"call_unknown_address",
       "mov.u64 %rd2, 0x123450; prototype: .callprototype _ (); call %rd2, (), prototype;"},
      {"endless_recursion", "call deep, (%r0);", 32, 1, 1, 0, 0,
       ".func deep(.param .b32 n) { .reg .b32 %x<4>; .local .align 4 .b8 l[256]; .reg .b64 %y; ld.param.u32 "
       "%x0, [n]; "
       "mov.u64 %y, l; st.local.u32 [%y+16], %x0; add.u32 %x1, %x0, 1; call deep, (%x1); ld.local.u32 %x2, "
       "[%y+16]; "
       "st.local.u32 [%y+20], %x2; ret; }"},
      {"barrier_count_of_33", "cvt.u32.u64 %r1, %rd1; mov.u32 %r2, 1; barrier.sync %r2, %r1;", 32, 1, 1, 0, 0,
       "", 33},
      {"barrier_count_beyond_block", "cvt.u32.u64 %r1, %rd1; mov.u32 %r2, 1; barrier.arrive %r2, %r1;", 32, 1,
       1, 0, 0, "", 64},
      {"barrier_16", "cvt.u32.u64 %r1, %rd1; barrier.sync %r1;", 32, 1, 1, 0, 0, "", 16},
      {"barrier_count_0", "cvt.u32.u64 %r1, %rd1; mov.u32 %r2, 1; barrier.sync %r2, %r1;"},
      {"warp_sync_without_itself", "cvt.u32.u64 %r1, %rd1; bar.warp.sync %r1;", 32, 1, 1, 0, 0, "", 1},
      {"shuffle_without_itself",
       "cvt.u32.u64 %r1, %rd1; shfl.sync.idx.b32 %r2, %r0, 0, 31, %r1; st.global.u32 [%rd0], %r2;", 32, 1, 1,
       0, 0, "", 1},
      {"setmaxnreg_alone", "setmaxnreg.dec.sync.aligned.u32 64;", 128},
      {"nanosleep_long", "nanosleep.u32 4000000000;"},
      {"dependency_wait_without_one",
       "griddepcontrol.wait; griddepcontrol.launch_dependents; st.global.u32 [%rd0], 5;", 32, 1, 1, 0, 1},
      {"cluster_barrier_without_cluster",
       "barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd0], 5;", 32, 1, 1, 0, 1},
      {"cluster_barrier_wait_only_of_one_block",
       "barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.arrive; barrier.cluster.wait; "
       "st.global.u32 [%rd0], 6;",
       32, 2, 2, 0, 1},
      {"alloca_huge",
       "alloca.u64 %rd2, 0x10000000; st.local.u32 [%rd2], %r0; ld.local.u32 %r1, [%rd2]; st.global.u32 "
       "[%rd0], %r1;"},
  };
}

}  // namespace

Case case_of(const Kernel& kernel) {
  return {kernel.name, [kernel](Driver& driver) { run(kernel, driver); }};
}

std::vector<Case> kernel_cases() {
  std::vector<Case> cases;
  for (auto* const of : {addresses, control, asynchronous, remote_shared_memory, values})
    for (const Kernel& k : of()) cases.push_back(case_of(k));
  return cases;
}

}  // namespace palladion::answers
