// The arithmetic of tcgen05.mma: from the bytes of its operands to D in tensor memory.
#include <memory>

#include "sim/machine/async/tcgen05.h"
#include "sim/machine/exec/elements.h"
#include "sim/numerics/tcgen05.h"

namespace palladion::sim {
namespace {

namespace tg = numerics::tcgen05;

tg::Kind kind_of(isa::Tcgen05Kind kind) { return static_cast<tg::Kind>(kind); }
static_assert(static_cast<int>(tg::Kind::mxf4nvf4) == static_cast<int>(isa::Tcgen05Kind::mxf4nvf4));

tg::Result result_of(isa::Type d) {
  return d == isa::Type::f16 ? tg::Result::f16 : d == isa::Type::s32 ? tg::Result::s32 : tg::Result::f32;
}

// Buffers of tiles go from operations that have landed to those that read.
class TileBuffers {
 public:
  void give_to(RawTile& tile) {
    if (free_.empty()) return;
    tile.bytes = std::move(free_.back());
    free_.pop_back();
  }
  void take_from(RawTile& tile) {
    if (tile.bytes.capacity() != 0 && free_.size() < most) free_.push_back(std::move(tile.bytes));
  }

 private:
  static constexpr size_t most = 16;
  std::vector<std::vector<uint8_t>> free_;
};
TileBuffers& buffers() {
  thread_local TileBuffers one;
  return one;
}

// B of both CTAs as one matrix: rows of N follow each other; where N runs along the rows, each k has both
// parts.
void join_b(TensorProduct& p, const StatedProduct& s) {
  RawTile& first = p.b[0].tile;
  const RawTile& second = p.b[1].tile;
  if (!s.d.transpose_b) {
    first.bytes.insert(first.bytes.end(), second.bytes.begin(), second.bytes.end());
    return;
  }
  const size_t part = first.stride, rows = first.bytes.size() / part;
  std::vector<uint8_t> both(2 * first.bytes.size());
  for (size_t k = 0; k < rows; ++k) {
    std::memcpy(both.data() + 2 * k * part, first.bytes.data() + k * part, part);
    std::memcpy(both.data() + (2 * k + 1) * part, second.bytes.data() + k * part, part);
  }
  first.bytes = std::move(both);
  first.stride = 2 * part;
}

// --- reading ----------------------------------------------------------------------------------------------

OperandFault read_a(const TensorProduct& p, const StatedProduct& s, const CtaState& cta, RawTile& tile) {
  const bool narrow = !isa::is_mxf4(s.mma.kind);
  if (p.a_in_tensor_memory) {
    OperandFault fault = read_tensor_rows(cta, p.a_tensor, s.path, s.rows(), tile);
    if (narrow) align_narrow_elements(s.d.a, tile.bytes);
    return fault;
  }
  read_tcgen05_matrix(cta, shared_a(p, s), tile);
  if (narrow) spread_narrow_elements(s.d.a, tile.bytes);
  return {};
}

OperandFault expand_a(const TensorProduct& p, const StatedProduct& s, const CtaState& cta,
                      TensorProduct::Operand& a) {
  if (s.d.transpose_a) turn_tile(a.tile, static_cast<size_t>(s.element_bytes()));
  return expand_sparse_a(cta, metadata_of(p, s), a.tile, a.selected);
}

void read_b(const TensorProduct& p, const StatedProduct& s, const CtaState& cta, RawTile& tile) {
  read_tcgen05_matrix(cta, shared_b(p, s), tile);
  if (!isa::is_mxf4(s.mma.kind)) spread_narrow_elements(s.d.b, tile.bytes);
}

// What one CTA has of the operands.
OperandFault read_of_cta(TensorProduct& p, const StatedProduct& s, uint32_t c, const CtaState& cta) {
  buffers().give_to(p.a[c].tile);
  buffers().give_to(p.b[c].tile);
  OperandFault fault = read_a(p, s, cta, p.a[c].tile);
  read_b(p, s, cta, p.b[c].tile);
  if (!fault.code && s.mma.sparse) fault = expand_a(p, s, cta, p.a[c]);
  if (!fault.code && s.mma.scale_vectors != 0) {
    fault = read_scales(cta, scales_of_a(p, s), p.a[c].scales);
    if (!fault.code) fault = read_scales(cta, scales_of_b(p, s), p.b[c].scales);
  }
  return fault;
}

// --- multiplying ------------------------------------------------------------------------------------------

tg::Matrix matrix_of(const RawTile& tile, isa::Type type, bool transpose, bool negate) {
  return {.type = *element_of(type),
          .rows = {.base = tile.bytes.data(), .stride = static_cast<std::ptrdiff_t>(tile.stride)},
          .major = transpose ? tg::Major::mn : tg::Major::k,
          .negate = negate};
}

tg::Scales scales_in(const std::vector<uint8_t>& bytes, const StatedProduct& s) {
  const int count = s.mma.scale_vectors;
  return {.type = s.d.scale_ue4m3 ? tg::Scale::ue4m3 : tg::Scale::ue8m0,
          .count = count,
          .rows = {.base = bytes.data(), .stride = count}};
}

// Decoded operands are large: one set a host thread, reused by every instruction.
struct Decoded {
  tg::AOperand a;
  tg::BOperand b;
};
Decoded& decoded() {
  thread_local const std::unique_ptr<Decoded> one = std::make_unique<Decoded>();
  return *one;
}

// Where D is in a CTA's tensor memory.
class TileOfD {
 public:
  TileOfD(TensorMemory& t, const StatedProduct& s, uint32_t address)
      : tensor_(t), path_(s.path), at_(isa::tensor_place(address)), parts_(isa::column_parts(s.path)) {}

  int lane(int row, int part) const { return at_.lane + isa::lane_of_row(path_, row, part); }
  // Row r of D: consecutive words for each part of N.
  uint32_t* place(int row, int part) const {
    return tensor_.row(static_cast<uint32_t>(lane(row, part))) + at_.column;
  }
  // Rows of all N in consecutive lanes.
  bool is_dense() const { return parts_ == 1 && isa::lane_of_row(path_, 16) == 16; }
  int parts() const { return parts_; }

 private:
  TensorMemory& tensor_;
  isa::DataPath path_;
  isa::TensorPlace at_;
  int parts_;
};

bool is_disabled(const TensorProduct& p, uint32_t cta, int lane) {
  return (p.disabled[4 * cta + static_cast<uint32_t>(lane) / 32] >> (lane % 32) & 1) != 0;
}

struct Multiplication {
  const TensorProduct& product;
  const StatedProduct& stated;
  uint32_t cta;  // of the pair
};

// Through a copy of the rows, which are written back but for lanes that are disabled.
void multiply_copied(const Multiplication& m, TensorMemory& memory, const tg::MultiplyOptions& options) {
  thread_local std::vector<uint32_t> copy(size_t{tg::max_m} * tg::max_n);
  const TileOfD tile(memory, m.stated, m.product.d);
  const auto n = static_cast<size_t>(m.stated.d.n), width = static_cast<size_t>(m.stated.d_columns());
  const auto in_copy = [&](int row, int part) {
    return copy.data() + static_cast<size_t>(row) * n + static_cast<size_t>(part) * width;
  };
  for (int r = 0; r < m.stated.rows(); ++r)
    for (int part = 0; part < tile.parts(); ++part)
      std::memcpy(in_copy(r, part), tile.place(r, part), width * 4);
  tg::multiply(decoded().a, decoded().b, result_of(m.stated.d.d), copy.data(), static_cast<std::ptrdiff_t>(n),
               options);
  for (int r = 0; r < m.stated.rows(); ++r)
    for (int part = 0; part < tile.parts(); ++part)
      if (!is_disabled(m.product, m.cta, tile.lane(r, part)))
        std::memcpy(tile.place(r, part), in_copy(r, part), width * 4);
}

void multiply(const Multiplication& m, TensorMemory& memory) {
  tg::MultiplyOptions options;
  options.zero_c = m.product.zero_c;
  options.saturate = m.stated.d.saturate;
  options.scale_input_d = m.product.input_scale;
  const bool all_lanes = std::ranges::all_of(m.product.disabled, [](uint32_t w) { return w == 0; });
  const TileOfD tile(memory, m.stated, m.product.d);
  if (!tile.is_dense() || !all_lanes) return multiply_copied(m, memory, options);
  tg::multiply(decoded().a, decoded().b, result_of(m.stated.d.d), tile.place(0, 0), TensorMemory::columns,
               options);
}

void decode_a(const TensorProduct::Operand& a, const StatedProduct& s) {
  const bool turned = s.d.transpose_a && !s.mma.sparse;  // a sparse A has been turned
  tg::Matrix matrix = matrix_of(a.tile, s.d.a, turned, s.d.negate_a);
  matrix.scales = scales_in(a.scales, s);
  tg::decode_a(decoded().a, kind_of(s.mma.kind), s.rows(), matrix,
               s.mma.sparse ? a.selected.data() : nullptr);
}

void decode_b(const RawTile& tile, const std::vector<uint8_t>& scales, const StatedProduct& s) {
  tg::Matrix matrix = matrix_of(tile, s.d.b, s.d.transpose_b, s.d.negate_b);
  matrix.scales = scales_in(scales, s);
  tg::decode_b(decoded().b, kind_of(s.mma.kind), s.d.n, matrix, s.mma.sparse);
}

}  // namespace

void TensorProduct::read(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const StatedProduct s(run, op, idesc);
  for (uint32_t c = 0; c < s.ctas(); ++c) {
    const OperandFault fault = read_of_cta(*this, s, c, run.cluster.ctas[leader + c]);
    if (fault.code) return async_fault(run, op, *fault.code, fault.message, fault.help);
  }
  if (s.ctas() == max_pair) join_b(*this, s);
  if (zero_columns != 0)
    clear_columns(sim::zero_columns(zero_columns, s.d.m, s.d.n), s.d.transpose_b,
                  static_cast<size_t>(s.element_bytes()), b[0].tile);
}

// Each CTA of a pair has scales of B of its own.
void TensorProduct::land(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const StatedProduct s(run, op, idesc);
  for (uint32_t c = 0; c < s.ctas(); ++c) {
    if (c == 0 || b[c].scales != b[0].scales) decode_b(b[0].tile, b[c].scales, s);
    decode_a(a[c], s);
    multiply({*this, s, c}, run.cluster.ctas[leader + c].tensor);
    buffers().take_from(a[c].tile);
  }
  for (Operand& o : b) buffers().take_from(o.tile);
}

void TensorProduct::describe(const AsyncOp&, Traffic& t) const {
  t.source = a_in_tensor_memory ? isa::Space::tensor : isa::Space::shared_cta;
  t.destination = isa::Space::tensor;
  t.rows = rows;
  t.columns = columns;
  t.products = uint64_t{m} * n * k;
  t.bytes = shared_bytes;
  t.ctas = ctas;
}

}  // namespace palladion::sim
