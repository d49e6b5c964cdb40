// How blackwell_flash_attention_backward is chosen, and what it computes.
#include "kernels/blackwell/flash_attention_backward.h"
#include "kernels/frame/attention_gradients.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels::blackwell {

KernelSpec flash_attention_backward_spec() {
  using C = AttentionBackwardConfig;
  KernelSpec spec = Spec("blackwell_flash_attention_backward",
                         "dQ, dK, dV of softmax(Q K^T / sqrt(d)) V on Blackwell, the same bits in every run",
                         flash_attention_backward)
                        .size("batch", &C::batch, "independent problems")
                        .size("heads", &C::heads, "of Q and O")
                        .size("kv_heads", &C::kv_heads, "of K and V: divides heads")
                        .size("q", &C::q_seq, "rows of Q and O: a multiple of 128")
                        .size("kv", &C::kv_seq, "rows of K and V: a multiple of 128")
                        .setting("head_dim", &C::head_dim, "columns of a head: 64 or 128")
                        .setting("dtype", &C::dtype, "of all arrays but lse and delta", {pl::f16, pl::bf16})
                        .setting("causal", &C::causal, "1: row i of Q sees rows of K up to i + kv - q")
                        .setting("stages", &C::stages, "pairs of tiles on their way")
                        .arrays({"q", "k", "v", "do", "lse", "delta"}, {"dq", "dk", "dv"})
                        .inputs([](const C& c, uint64_t seed) {
                          return attention_gradient_inputs(c.q_type(), c.kv_type(), c.causal, false, seed);
                        })
                        .reference([](const C& c, const std::vector<Array>& in) {
                          return attention_gradients(in, c.causal, false);
                        });
  spec.tolerance = [](const Choice& choice) {
    return attention_gradient_tolerance(choice.dtype("dtype"),
                                        choice.size("heads") / choice.size("kv_heads"));
  };
  spec.chip = "b200";
  return spec;
}

}  // namespace palladion::kernels::blackwell
