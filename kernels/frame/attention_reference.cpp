// Attention and its gradients on the host, a head at a time.
#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kernels/frame/attention_gradients.h"
#include "kernels/frame/reference.h"

namespace palladion::kernels {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

// The heads of an array of four dimensions, each a matrix of rows.
class Heads {
 public:
  Heads(const pl::Shape& shape, bool heads_first, std::vector<float> values)
      : rows_(shape[heads_first ? 2 : 1]),
        heads_(shape[heads_first ? 1 : 2]),
        d_(shape[3]),
        first_(heads_first),
        values_(std::move(values)) {}
  Heads(const Array& a, bool heads_first) : Heads(a.type.shape, heads_first, to_floats(a)) {}
  // Zeros of the same shape.
  static Heads zeros(const Array& like, bool heads_first) {
    return {like.type.shape, heads_first, std::vector<float>(size_t(pl::volume(like.type.shape)))};
  }

  int64_t rows() const { return rows_; }
  int64_t heads() const { return heads_; }
  int64_t d() const { return d_; }
  Rows of(int64_t b, int64_t h) {
    const int64_t at = first_ ? (b * heads_ + h) * rows_ : b * rows_ * heads_ + h;
    return {values_.data() + at * d_, rows_, d_, Eigen::OuterStride<>(first_ ? d_ : heads_ * d_)};
  }
  Array array(const pl::ShapeDtype& type) const { return from_floats(type, values_); }

 private:
  int64_t rows_, heads_, d_;
  bool first_;  // heads stand before rows
  std::vector<float> values_;
};

// Q K^T / sqrt(d), minus infinity where row i of Q does not see a row of K.
Matrix scores(const Rows& q, const Rows& k, bool causal) {
  Matrix s = q * k.transpose();
  s /= std::sqrt(static_cast<float>(q.cols()));
  for (int64_t i = 0; causal && i < q.rows(); ++i)
    s.row(i).tail(q.rows() - 1 - i).setConstant(-std::numeric_limits<float>::infinity());
  return s;
}

// body(batch, head of Q, head of K and V) for each head of Q.
template <class F>
void for_each_head(const pl::Shape& q, int64_t heads, int64_t kv_heads, const F& body) {
  for (int64_t b = 0; b < q[0]; ++b)
    for (int64_t h = 0; h < heads; ++h) body(b, h, h / (heads / kv_heads));
}

}  // namespace

Array attention_reference(const Array& q, const Array& k, const Array& v, bool causal, bool heads_first) {
  Heads qs(q, heads_first), ks(k, heads_first), vs(v, heads_first), out = Heads::zeros(q, heads_first);
  for_each_head(q.type.shape, qs.heads(), ks.heads(), [&](int64_t b, int64_t h, int64_t kv) {
    Matrix s = scores(qs.of(b, h), ks.of(b, kv), causal);
    s = (s.colwise() - s.rowwise().maxCoeff()).array().exp();
    out.of(b, h) = (s * vs.of(b, kv)).array().colwise() / s.rowwise().sum().array();
  });
  return out.array(q.type);
}

AttentionRows attention_rows(const Array& q, const Array& k, const Array& v, const Array& d_out, bool causal,
                             bool heads_first) {
  Heads qs(q, heads_first), ks(k, heads_first), vs(v, heads_first), d_outs(d_out, heads_first);
  const pl::ShapeDtype type{pl::f32, {q.type.shape[0], qs.heads(), qs.rows()}};
  std::vector<float> lse, delta;
  for_each_head(q.type.shape, qs.heads(), ks.heads(), [&](int64_t b, int64_t h, int64_t kv) {
    Matrix s = scores(qs.of(b, h), ks.of(b, kv), causal);
    const Eigen::VectorXf largest = s.rowwise().maxCoeff();
    s = (s.colwise() - largest).array().exp();
    const Eigen::VectorXf sum = s.rowwise().sum();
    const Matrix out = (s * vs.of(b, kv)).array().colwise() / sum.array();
    const Eigen::VectorXf own_lse = largest.array() + sum.array().log(),
                          own_delta = out.cwiseProduct(d_outs.of(b, h)).rowwise().sum();
    lse.insert(lse.end(), own_lse.begin(), own_lse.end());
    delta.insert(delta.end(), own_delta.begin(), own_delta.end());
  });
  return {from_floats(type, lse), from_floats(type, delta)};
}

std::vector<Array> attention_gradient_inputs(const pl::ShapeDtype& q, const pl::ShapeDtype& kv, bool causal,
                                             bool heads_first, uint64_t seed) {
  std::vector<Array> in = normal_inputs({q, kv, kv, q}, 4 * seed);
  AttentionRows rows = attention_rows(in[0], in[1], in[2], in[3], causal, heads_first);
  in.push_back(std::move(rows.lse));
  in.push_back(std::move(rows.delta));
  return in;
}

std::vector<Array> attention_gradients(const std::vector<Array>& inputs, bool causal, bool heads_first) {
  const Array &q = inputs[0], &k = inputs[1], &v = inputs[2];
  Heads qs(q, heads_first), ks(k, heads_first), vs(v, heads_first), d_outs(inputs[3], heads_first);
  Heads dq = Heads::zeros(q, heads_first), dk = Heads::zeros(k, heads_first),
        dv = Heads::zeros(v, heads_first);
  const std::vector<float> lse = to_floats(inputs[4]), delta = to_floats(inputs[5]);
  const float scale = 1 / std::sqrt(static_cast<float>(qs.d()));
  for_each_head(q.type.shape, qs.heads(), ks.heads(), [&](int64_t b, int64_t h, int64_t kv) {
    const int64_t first = (b * qs.heads() + h) * qs.rows();
    const Eigen::Map<const Eigen::VectorXf> l(lse.data() + first, qs.rows()),
        sums(delta.data() + first, qs.rows());
    const Matrix p = (scores(qs.of(b, h), ks.of(b, kv), causal).colwise() - l).array().exp();
    const Matrix dp = d_outs.of(b, h) * vs.of(b, kv).transpose();
    const Matrix ds = scale * p.cwiseProduct(dp.colwise() - sums);
    dv.of(b, kv) += p.transpose() * d_outs.of(b, h);
    dq.of(b, h) = ds * ks.of(b, kv);
    dk.of(b, kv) += ds.transpose() * qs.of(b, h);
  });
  return {dq.array(q.type), dk.array(k.type), dv.array(v.type)};
}

Tolerance attention_gradient_tolerance(pl::DType dtype, int64_t heads_sharing) {
  const Tolerance one = attention_tolerance(dtype);
  return {.relative = one.relative,
          .absolute = 2 * one.absolute * std::sqrt(static_cast<double>(heads_sharing))};
}

}  // namespace palladion::kernels
