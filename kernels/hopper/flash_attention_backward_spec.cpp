// How flash_attention_backward is chosen, and what it computes.
#include "kernels/frame/attention_gradients.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/flash_attention_backward.h"

namespace palladion::kernels {

KernelSpec flash_attention_backward_spec() {
  using C = FlashAttentionBackward;
  KernelSpec spec =
      Spec("flash_attention_backward", "dQ, dK, dV of flash_attention, the same bits in every run",
           flash_attention_backward)
          .size("batch", &C::batch, "independent problems")
          .size("heads", &C::heads, "of Q and O")
          .size("kv_heads", &C::kv_heads, "of K and V: divides heads")
          .size("q", &C::q, "rows of Q and O", {.multiple_of = 8})
          .size("kv", &C::kv, "rows of K and V", {.multiple_of = 8})
          .size("head_dim", &C::head_dim, "columns of a head: 64 or 128", {.multiple_of = 64})
          .setting("dtype", &C::dtype, "of all arrays but lse and delta, which are f32", {pl::f16, pl::bf16})
          .setting("causal", &C::causal, "1: row i of Q sees rows of K up to i + kv - q")
          .setting("block_q", &C::block_q, "rows of Q and dO a step, for dK and dV; 0: the fastest",
                   {.multiple_of = 16})
          .setting("block_kv", &C::block_kv, "rows of K and V a step, for dQ; 0: the fastest",
                   {.multiple_of = 16})
          .setting("stages", &C::stages, "steps of each array on their way")
          .arrays({"q", "k", "v", "do", "lse", "delta"}, {"dq", "dk", "dv"})
          .inputs([](const C& c, uint64_t seed) {
            return attention_gradient_inputs(c.q_type(), c.kv_type(), c.causal, true, seed);
          })
          .reference([](const C& c, const std::vector<Array>& in) {
            return attention_gradients(in, c.causal, true);
          });
  spec.tolerance = [](const Choice& choice) {
    return attention_gradient_tolerance(choice.dtype("dtype"),
                                        choice.size("heads") / choice.size("kv_heads"));
  };
  return spec;
}

}  // namespace palladion::kernels
