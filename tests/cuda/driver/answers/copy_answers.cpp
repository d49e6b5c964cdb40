// Asynchronous copies, mbarriers, shared memory of other CTAs.
#include "tests/cuda/driver/answers/kernel.h"

namespace palladion::answers {
namespace {

const std::string shared_array = ".shared .align 128 .b8 s[1024];";

// One thread goes on: %r1 and %r2 are places in shared memory, %rd2 is the memory.
const std::string one =
    "setp.ne.u32 %p0, %r0, 0; @%p0 ret; mov.u32 %r1, s; mov.u32 %r2, s; add.u32 %r2, %r2, 512; "
    "cvta.to.global.u64 %rd2, %rd0;";
// An mbarrier at %r2 that expects 64 bytes.
const std::string ready =
    "mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; "
    "fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 64;";
const std::string wait =
    "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra W; ld.shared.u32 %r5, [%r1]; "
    "st.global.u32 [%rd0], %r5;";

std::string bulk(const char* dst, const char* src, const char* bytes, bool waits = true) {
  return one + ready + "mov.u32 %r6, " + bytes +
         "; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + dst + "], [" + src +
         "], %r6, [%r2];" + (waits ? wait : "nanosleep.u32 100000;");
}

Kernel shared_kernel(const char* name, std::string body, unsigned words = 0, unsigned grid = 1,
                     unsigned cluster = 1) {
  return {name, std::move(body), 32, grid, cluster, 0, words, shared_array};
}

}  // namespace

std::vector<Kernel> asynchronous() {
  return {
      shared_kernel("bulk_copy", bulk("%r1", "%rd2", "64"), 1),
      shared_kernel("bulk_misaligned_source", bulk("%r1", "%rd2+8", "64", false)),
      shared_kernel("bulk_misaligned_destination", bulk("%r1+8", "%rd2", "64", false)),
      shared_kernel("bulk_size_of_8", bulk("%r1", "%rd2", "8", false)),
      shared_kernel("bulk_size_0", bulk("%r1", "%rd2", "0", false)),
      shared_kernel("bulk_from_null", bulk("%r1", "%rd1", "64", false)),
      shared_kernel("bulk_beyond_shared", bulk("%r1+0x100000", "%rd2", "64", false)),
      shared_kernel("bulk_store_to_null",
                    one + "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64; "
                          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"),
      shared_kernel("bulk_store_misaligned",
                    one +
                        "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%rd2+4], [%r1], 64; "
                        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"),
      shared_kernel("bulk_prefetch_null", "cp.async.bulk.prefetch.L2.global [%rd1], 64;"),
      shared_kernel(
          "tensor_copy_of_a_null_map",
          one + ready +
              "mov.u32 %r6, 0; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
              "[%r1], [%rd1, {%r6,%r6}], [%r2]; nanosleep.u32 100000;"),
      shared_kernel(
          "tensor_copy_of_no_map",
          one + ready +
              "mov.u32 %r6, 0; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
              "[%r1], [%rd2, {%r6,%r6}], [%r2]; nanosleep.u32 100000;"),
      shared_kernel(
          "tensor_copy_of_a_misaligned_map",
          one + ready +
              "mov.u32 %r6, 0; add.u64 %rd2, %rd2, 32; "
              "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2, "
              "{%r6,%r6}], [%r2]; nanosleep.u32 100000;"),
      shared_kernel("cp_async_misaligned_16",
                    one + "cp.async.ca.shared.global [%r1], [%rd2+8], 16; cp.async.wait_all;"),
      shared_kernel("cp_async_misaligned_shared",
                    one + "cp.async.ca.shared.global [%r1+4], [%rd2], 16; cp.async.wait_all;"),
      shared_kernel("cp_async_null", one + "cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.wait_all;"),
      shared_kernel(
          "cp_async_null_source_0",
          one + "cp.async.ca.shared.global [%r1], [%rd1], 16, 0; cp.async.wait_all; ld.shared.u32 %r5, "
                "[%r1]; st.global.u32 [%rd0], %r5;",
          1),
      shared_kernel(
          "ldmatrix_misaligned",
          "mov.u32 %r1, s; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r1+8]; st.global.u32 [%rd0], "
          "%r5;"),
      shared_kernel("stmatrix_misaligned",
                    "mov.u32 %r1, s; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1+8], {%r0};"),
      shared_kernel("mbarrier_misaligned", one + "mbarrier.init.shared.b64 [%r2+4], 1;"),
      shared_kernel("mbarrier_count_0", one + "cvt.u32.u64 %r6, %rd1; mbarrier.init.shared.b64 [%r2], %r6;"),
      shared_kernel(
          "mbarrier_count_too_great",
          one + "cvt.u32.u64 %r6, %rd1; add.u32 %r6, %r6, 0x100000; mbarrier.init.shared.b64 [%r2], %r6;"),
      shared_kernel("mbarrier_bits",
                    one + "mbarrier.init.shared.b64 [%r2], 3; mbarrier.arrive.shared.b64 %rd9, [%r2];"),
      shared_kernel("mbarrier_arrive_beyond_count",
                    one + "mbarrier.init.shared.b64 [%r2], 1; cvt.u32.u64 %r6, %rd1; add.u32 %r6, %r6, 2; "
                          "mbarrier.arrive.shared.b64 %rd9, [%r2], %r6;"),
      shared_kernel("mbarrier_without_init",
                    one + "st.shared.b64 [%r2], 0; mbarrier.arrive.shared.b64 %rd9, [%r2];"),
      shared_kernel("mbarrier_inval",
                    one + "mbarrier.init.shared.b64 [%r2], 3; mbarrier.inval.shared.b64 [%r2];"),
      shared_kernel(
          "mbarrier_expect_too_much",
          one + "mbarrier.init.shared.b64 [%r2], 1; cvt.u32.u64 %r6, %rd1; add.u32 %r6, %r6, 0x100000; "
                "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], %r6;"),
      shared_kernel("st_async_misaligned",
                    one + "mbarrier.init.shared.b64 [%r2], 1; "
                          "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1+2], %r0, [%r2];"),
  };
}

std::vector<Kernel> remote_shared_memory() {
  return {
      shared_kernel(
          "local_arrive_on_remote",
          "mov.u32 %r1, s; mov.u32 %r3, 1; mbarrier.init.shared.b64 [%r1], 1; barrier.cluster.arrive; "
          "barrier.cluster.wait; mapa.shared::cluster.u32 %r2, %r1, %r3; mov.u32 %r4, %cluster_ctarank; "
          "setp.eq.u32 %p0, %r4, 0; @%p0 mbarrier.arrive.shared.b64 %rd9, [%r2]; barrier.cluster.arrive; "
          "barrier.cluster.wait;",
          0, 2, 2),
      shared_kernel(
          "local_wait_on_remote",
          "mov.u32 %r1, s; mov.u32 %r3, 1; mbarrier.init.shared.b64 [%r1], 1; barrier.cluster.arrive; "
          "barrier.cluster.wait; mapa.shared::cluster.u32 %r2, %r1, %r3; mov.u32 %r4, %cluster_ctarank; "
          "setp.eq.u32 %p0, %r4, 0; @%p0 mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 1; "
          "barrier.cluster.arrive; barrier.cluster.wait;",
          0, 2, 2),
      shared_kernel(
          "generic_wait_on_remote",
          "mov.u32 %r1, s; mov.u32 %r3, 1; mbarrier.init.shared.b64 [%r1], 1; barrier.cluster.arrive; "
          "barrier.cluster.wait; mapa.shared::cluster.u32 %r2, %r1, %r3; cvt.u64.u32 %rd5, %r2; "
          "cvta.shared::cluster.u64 %rd5, %rd5; mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 0; "
          "@%p0 mbarrier.test_wait.parity.b64 %p1, [%rd5], 1; barrier.cluster.arrive; barrier.cluster.wait;",
          0, 2, 2),
      shared_kernel(
          "local_store_on_remote",
          "mov.u32 %r1, s; mov.u32 %r3, 1; barrier.cluster.arrive; barrier.cluster.wait; "
          "mapa.shared::cluster.u32 %r2, %r1, %r3; mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 0; "
          "@%p0 st.shared::cta.u32 [%r2], 5; barrier.cluster.arrive; barrier.cluster.wait;",
          0, 2, 2),
      shared_kernel(
          "local_store_on_own_mapped",
          "mov.u32 %r1, s; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r3, %cluster_ctarank; "
          "mapa.shared::cluster.u32 %r2, %r1, %r3; st.shared::cta.u32 [%r2], 5; barrier.cluster.arrive; "
          "barrier.cluster.wait; ld.shared.u32 %r4, [%r1]; mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd3, "
          "%rd0; st.global.u32 [%rd3], %r4;",
          2, 2, 2),
      shared_kernel(
          "local_store_on_first",
          "mov.u32 %r1, s; mov.u32 %r3, 0; barrier.cluster.arrive; barrier.cluster.wait; "
          "mapa.shared::cluster.u32 %r2, %r1, %r3; mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 1; "
          "@%p0 st.shared::cta.u32 [%r2], 5; barrier.cluster.arrive; barrier.cluster.wait; "
          "ld.volatile.shared.u32 %r5, [%r1]; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd3, %rd0; "
          "st.global.u32 [%rd3], %r5;",
          0, 2, 2),
      shared_kernel(
          "local_store_by_number_of_second",
          "cvt.u32.u64 %r1, %rd1; add.u32 %r1, %r1, 1024; st.shared.u32 [s], %r0; barrier.cluster.arrive; "
          "barrier.cluster.wait; mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 1; @%p0 "
          "st.shared::cta.u32 [%r1], 77; barrier.cluster.arrive; barrier.cluster.wait; "
          "ld.volatile.shared.u32 %r5, [s]; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd3, %rd0; "
          "st.global.u32 [%rd3], %r5;",
          2, 2, 2),
      shared_kernel(
          "shared_address_of_second",
          "mov.u32 %r1, s; mov.u32 %r4, %cluster_ctarank; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd3, "
          "%rd0; st.global.u32 [%rd3], %r1; barrier.cluster.arrive; barrier.cluster.wait;",
          2, 2, 2),
      shared_kernel(
          "local_load_on_remote",
          "mov.u32 %r1, s; mov.u32 %r3, 1; barrier.cluster.arrive; barrier.cluster.wait; "
          "mapa.shared::cluster.u32 %r2, %r1, %r3; mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 0; "
          "@%p0 ld.volatile.shared::cta.u32 %r5, [%r2]; barrier.cluster.arrive; barrier.cluster.wait;",
          0, 2, 2),
      shared_kernel(
          "local_atomic_on_remote",
          "mov.u32 %r1, s; mov.u32 %r3, 1; barrier.cluster.arrive; barrier.cluster.wait; "
          "mapa.shared::cluster.u32 %r2, %r1, %r3; mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 0; "
          "@%p0 atom.shared::cta.add.u32 %r5, [%r2], 1; barrier.cluster.arrive; barrier.cluster.wait;",
          0, 2, 2),
      shared_kernel(
          "mapa_of_no_rank",
          "mov.u32 %r1, s; mov.u32 %r3, 5; barrier.cluster.arrive; barrier.cluster.wait; "
          "mapa.shared::cluster.u32 %r2, %r1, %r3; st.shared::cluster.u32 [%r2], 5; barrier.cluster.arrive; "
          "barrier.cluster.wait;",
          0, 2, 2),
      shared_kernel(
          "cluster_window_without_cluster",
          "mov.u32 %r1, s; mov.u32 %r3, 0; mapa.shared::cluster.u32 %r2, %r1, %r3; st.shared::cluster.u32 "
          "[%r2], 5; ld.shared.u32 %r4, [%r1]; st.global.u32 [%rd0], %r4;",
          1),
      shared_kernel("remote_store_misaligned",
                    "mov.u32 %r1, s; mov.u32 %r3, 1; barrier.cluster.arrive; barrier.cluster.wait; "
                    "mapa.shared::cluster.u32 %r2, %r1, %r3; st.shared::cluster.u32 [%r2+2], 5; "
                    "barrier.cluster.arrive; barrier.cluster.wait;",
                    0, 2, 2),
  };
}

}  // namespace palladion::answers
