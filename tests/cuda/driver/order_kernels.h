#pragma once
// Kernels of 64 threads: thread i touches element i of arrays of u32.
#include <string>

namespace palladion::cuda::driver {

inline std::string order_kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 a, .param .u64 b, .param .u64 c) {\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 "
         "%rd<12>;\n"
         "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\n"
         "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd5, %rd1, %rd4;\nadd.u64 %rd6, %rd2, "
         "%rd4;\n"
         "setp.ne.u32 %p1, %r1, 0;\n" +
         body + "\nret;\n}\n";
}

inline std::string order_kernels() {
  const std::string produce = "st.global.u32 [%rd5], %r1;\n";  // a[i] = i
  const std::string load = "ld.global.u32 %r2, [%rd5];\n";     // of a
  const std::string store =
      "add.u32 %r2, %r2, %r2;\nst.global.u32 [%rd6], %r2;\n";  // b[i] = 2 * what was loaded
  const std::string wait = "griddepcontrol.wait;\n", trigger = "griddepcontrol.launch_dependents;\n";
  const std::string spin =
      "@%p1 bra over;\nagain:\nld.acquire.gpu.global.u32 %r3, [%rd3];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra "
      "again;\n"
      "over:\nbar.sync 0;\n";
  // One thread asks and shares the answer: the loop has barriers and a store to shared memory.
  const std::string ask_together =
      ".shared .u32 answer;\nagain:\nbar.sync 0;\n@%p1 bra wait;\natom.acquire.gpu.global.add.u32 %r3, "
      "[%rd3], 0;\n"
      "st.shared.u32 [answer], %r3;\nwait:\nbar.sync 0;\nld.shared.u32 %r3, [answer];\n"
      "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra again;\n";
  const std::string signal =
      "bar.sync 0;\n@%p1 bra over;\nmov.u32 %r3, 1;\nst.release.gpu.global.u32 [%rd3], %r3;\nover:\n";
  std::string text =
      ".version 8.7\n.target sm_90\n.address_size 64\n.visible .const .align 4 .b8 constants[256];\n";
  text += order_kernel("produce", produce);
  text += order_kernel("consume", load + store);
  text += order_kernel(
      "consume_constants",
      "mov.u64 %rd7, constants;\nadd.u64 %rd7, %rd7, %rd4;\nld.const.u32 %r2, [%rd7];\n" + store);
  text += order_kernel("count", "mov.u32 %r2, 1;\nred.global.add.u32 [%rd1], %r2;");
  text += order_kernel(
      "count_plainly",
      "@%p1 bra over;\nld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd1], %r2;\nover:");
  text += order_kernel("produce_and_signal", produce + signal);
  text += order_kernel("await_and_consume", spin + load + store);
  text += order_kernel("ask_together_and_consume", ask_together + load + store);
  text += order_kernel("trigger_and_produce", trigger + produce);
  text += order_kernel("trigger_and_consume", trigger + load + store);
  text += order_kernel("wait_and_consume", wait + load + store);
  text += order_kernel("consume_and_wait", load + wait + store);
  text += order_kernel("wait_and_produce", wait + produce);
  text += order_kernel("one_waits", "@%p1 bra over;\n" + wait + "over:\nbar.sync 0;\n" + load + store);
  text += order_kernel("one_waits_late", "bar.sync 0;\n@%p1 bra over;\n" + wait + "over:\n" + load + store);
  return text;
}

}  // namespace palladion::cuda::driver
