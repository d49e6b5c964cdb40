// How blackwell_flash_attention_backward is chosen, and what it computes.
#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kernels/blackwell/flash_attention_backward.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels::blackwell {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The rows of one head of an array (batch, rows, heads, d).
class Heads {
 public:
  explicit Heads(const Array& x) : shape_(x.type.shape), values_(to_floats(x)) {}
  explicit Heads(const pl::Shape& shape)
      : shape_(shape), values_(static_cast<size_t>(pl::volume(shape)), 0.0F) {}

  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> at(int64_t b, int64_t h) {
    const int64_t d = shape_[3], stride = shape_[2] * d;
    return {values_.data() + b * shape_[1] * stride + h * d, shape_[1], d, Eigen::OuterStride<>(stride)};
  }
  const std::vector<float>& values() const { return values_; }

 private:
  pl::Shape shape_;
  std::vector<float> values_;
};

// Scores of a head over sqrt(d), -inf where a row of Q does not see one of K.
template <class Q, class K>
Matrix scores(const Q& q, const K& k, bool causal) {
  Matrix s = q * k.transpose() / std::sqrt(static_cast<float>(q.cols()));
  for (int64_t i = 0; causal && i < s.rows(); ++i)
    s.row(i).tail(s.rows() - 1 - i).setConstant(-std::numeric_limits<float>::infinity());
  return s;
}

// lse and delta as a forward pass and the product of O and dO leave them.
std::vector<Array> inputs(const AttentionBackwardConfig& c, uint64_t seed) {
  std::vector<Array> in = normal_inputs({c.q_type(), c.kv_type(), c.kv_type(), c.q_type()}, 4 * seed);
  Heads q(in[0]), k(in[1]), v(in[2]), d_out(in[3]);
  std::vector<float> lse, delta;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h) {
      const int64_t kv_head = h / (c.heads / c.kv_heads);
      const Matrix s = scores(q.at(b, h), k.at(b, kv_head), c.causal);
      for (int64_t i = 0; i < c.q_seq; ++i) {
        const float largest = s.row(i).maxCoeff();
        const Eigen::RowVectorXf p = (s.row(i).array() - largest).exp();
        lse.push_back(largest + std::log(p.sum()));
        delta.push_back((p * v.at(b, kv_head)).dot(d_out.at(b, h).row(i)) / p.sum());
      }
    }
  in.push_back(from_floats(c.row_type(), lse));
  in.push_back(from_floats(c.row_type(), delta));
  return in;
}

std::vector<Array> reference(const AttentionBackwardConfig& c, const std::vector<Array>& in) {
  Heads q(in[0]), k(in[1]), v(in[2]), d_out(in[3]);
  const std::vector<float> lse = to_floats(in[4]), delta = to_floats(in[5]);
  Heads dq(in[0].type.shape), dk(in[1].type.shape), dv(in[2].type.shape);
  const float root = 1 / std::sqrt(static_cast<float>(c.head_dim));
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h) {
      const int64_t kv_head = h / (c.heads / c.kv_heads), first = (b * c.heads + h) * c.q_seq;
      const Eigen::Map<const Eigen::VectorXf> lses(lse.data() + first, c.q_seq),
          deltas(delta.data() + first, c.q_seq);
      const Matrix s = scores(q.at(b, h), k.at(b, kv_head), c.causal);
      const Matrix p = (s.colwise() - lses).array().exp();
      const Matrix g = d_out.at(b, h) * v.at(b, kv_head).transpose();
      const Matrix ds = p.array() * (g.colwise() - deltas).array();
      dv.at(b, kv_head) += p.transpose() * d_out.at(b, h);
      dk.at(b, kv_head) += root * (ds.transpose() * q.at(b, h));
      dq.at(b, h) = root * (ds * k.at(b, kv_head));
    }
  return {from_floats(c.q_type(), dq.values()), from_floats(c.kv_type(), dk.values()),
          from_floats(c.kv_type(), dv.values())};
}

// Weights and their gradients are rounded to `dtype` before the products that sum them up, and the results
// once more: half a unit of each, where the weights of a row of Q add up to one. Heads that share K and V add
// to the same sums, with errors of either sign.
Tolerance tolerance(const Choice& choice) {
  const Tolerance once = attention_tolerance(choice.dtype("dtype"));
  const double group =
      static_cast<double>(choice.size("heads")) / static_cast<double>(choice.size("kv_heads"));
  return {.relative = 2 * once.relative, .absolute = 2 * once.absolute * std::sqrt(group)};
}

}  // namespace

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
                        .inputs(inputs)
                        .reference(reference);
  spec.tolerance = tolerance;
  spec.chip = "b200";
  return spec;
}

}  // namespace palladion::kernels::blackwell
