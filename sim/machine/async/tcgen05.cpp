// tcgen05.mma, tcgen05.cp, tcgen05.commit: asynchronous operations of one thread on tensor memory (PTX,
// "TensorCore 5th Generation Family Instructions").
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "sim/machine/async/tcgen05_operands.h"
#include "sim/machine/exec/elements.h"
#include "sim/machine/exec/handlers.h"
#include "sim/numerics/tcgen05.h"

namespace palladion::sim {
namespace {

namespace tg = numerics::tcgen05;

constexpr uint32_t max_pair = 2;

// What an operation's instruction states, and the words of its descriptor.
struct StatedProduct {
  StatedProduct(const ClusterRun& run, const AsyncOp& op, uint32_t idesc)
      : mma(effect<isa::Tcgen05Mma>(run.program.code[op.pc])),
        d(isa::decode_tcgen05_descriptor(idesc, mma.kind)),
        path(isa::data_path(d.m, mma.ctas, mma.weight_stationary, mma.sparse)) {}

  int rows() const { return isa::rows_of_cta(d.m, mma.ctas); }
  uint32_t ctas() const { return static_cast<uint32_t>(mma.ctas); }
  int element_bytes() const { return std::max(1, isa::tcgen05_element_bits(mma.kind) / 8); }
  // Of K in a row of A (of B, a sparse instruction has twice as much).
  size_t a_bytes() const { return 32; }
  size_t b_bytes() const { return mma.sparse ? 64 : 32; }

  const isa::Tcgen05Mma& mma;
  isa::Tcgen05Descriptor d;
  isa::DataPath path;
};

SharedMatrix shared_a(const TensorProduct& p, const StatedProduct& s) {
  return {p.a_desc, s.rows(), s.a_bytes(), s.d.transpose_a, s.element_bytes()};
}
// Each CTA of a pair has half of B's columns.
SharedMatrix shared_b(const TensorProduct& p, const StatedProduct& s) {
  return {p.b_desc, s.d.n / s.mma.ctas, s.b_bytes(), s.d.transpose_b, s.element_bytes()};
}

tg::Kind kind_of(isa::Tcgen05Kind kind) { return static_cast<tg::Kind>(kind); }
static_assert(static_cast<int>(tg::Kind::mxf4nvf4) == static_cast<int>(isa::Tcgen05Kind::mxf4nvf4));

tg::Result result_of(isa::Type d) {
  return d == isa::Type::f16 ? tg::Result::f16 : d == isa::Type::s32 ? tg::Result::s32 : tg::Result::f32;
}

// B of both CTAs as one matrix: rows of N follow each other; where N runs along the rows, each k has both
// parts.
void join_b(TensorProduct& p, const StatedProduct& s) {
  RawTile& first = p.b[0];
  const RawTile& second = p.b[1];
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

tg::Matrix matrix_of(const RawTile& tile, isa::Type type, bool transpose, bool negate) {
  return {.type = *element_of(type),
          .rows = {.base = tile.bytes.data(), .stride = static_cast<std::ptrdiff_t>(tile.stride)},
          .major = transpose ? tg::Major::mn : tg::Major::k,
          .negate = negate};
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

// D's rows where the data path divides the columns over the lanes, or leaves lanes between the rows: a copy.
class DenseTile {
 public:
  DenseTile(TensorMemory& t, const StatedProduct& s, uint32_t address)
      : tensor_(t), s_(s), at_(isa::tensor_place(address)), parts_(isa::column_parts(s.path)) {}

  // Row r of D in a CTA: consecutive words of `columns() / parts` for each part.
  uint32_t* place(int row, int part) const {
    const int lane = at_.lane + isa::lane_of_row(s_.path, row, part);
    return tensor_.row(static_cast<uint32_t>(lane)) + at_.column;
  }
  bool is_dense() const { return parts_ == 1 && isa::lane_of_row(s_.path, 16) == 16; }
  int parts() const { return parts_; }
  int part_columns() const { return s_.d.n / parts_; }

 private:
  TensorMemory& tensor_;
  const StatedProduct& s_;
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
  const DenseTile tile(memory, m.stated, m.product.d);
  const auto n = static_cast<size_t>(m.stated.d.n), width = static_cast<size_t>(tile.part_columns());
  for (int r = 0; r < m.stated.rows(); ++r)
    for (int part = 0; part < tile.parts(); ++part)
      std::memcpy(copy.data() + static_cast<size_t>(r) * n + static_cast<size_t>(part) * width,
                  tile.place(r, part), width * 4);
  tg::multiply(decoded().a, decoded().b, result_of(m.stated.d.d), copy.data(), static_cast<std::ptrdiff_t>(n),
               options);
  for (int r = 0; r < m.stated.rows(); ++r)
    for (int part = 0; part < tile.parts(); ++part) {
      const int lane = isa::lane_of_row(m.stated.path, r, part);
      if (is_disabled(m.product, m.cta, lane)) continue;
      std::memcpy(tile.place(r, part),
                  copy.data() + static_cast<size_t>(r) * n + static_cast<size_t>(part) * width, width * 4);
    }
}

void multiply(const Multiplication& m, TensorMemory& memory) {
  tg::MultiplyOptions options;
  options.zero_c = m.product.zero_c;
  options.saturate = m.stated.d.saturate;
  options.scale_input_d = m.product.input_scale;
  const bool all_lanes = std::ranges::all_of(m.product.disabled, [](uint32_t w) { return w == 0; });
  const DenseTile tile(memory, m.stated, m.product.d);
  if (!tile.is_dense() || !all_lanes) return multiply_copied(m, memory, options);
  tg::multiply(decoded().a, decoded().b, result_of(m.stated.d.d), tile.place(0, 0), TensorMemory::columns,
               options);
}

// --- issue ------------------------------------------------------------------------------------------------

// The CTAs of an operation: the pair of the issuing one. False after a fault.
bool find_pair(Exec& x, int ctas, const char* what, uint32_t& leader) {
  leader = ctas == 2 ? x.cta->rank & ~1U : x.cta->rank;
  if (ctas == 1 || leader + 1 < x.cluster.ctas.size()) return true;
  x.fault("PLD3136",
          fmt::format("{}.cta_group::2 in a cluster of {}: CTA rank {} has no peer", what,
                      x.cluster.ctas.size(), x.cta->rank),
          "a pair of CTAs are two ranks of a cluster that differ in the last bit: launch clusters of 2");
  return false;
}

bool has_tensor_memory(Exec& x, uint32_t leader, int ctas, const char* what) {
  for (uint32_t r = leader; r < leader + static_cast<uint32_t>(ctas); ++r) {
    if (!x.cluster.ctas[r].tensor.words.empty()) continue;
    x.fault("PLD3130", fmt::format("{}: CTA rank {} has allocated no tensor memory", what, r));
    return false;
  }
  return true;
}

bool check_columns(Exec& x, const char* what, const char* operand, uint32_t address, int columns) {
  const isa::TensorPlace p = isa::tensor_place(address);
  if (p.column + columns <= static_cast<int>(TensorMemory::columns) &&
      p.lane < static_cast<int>(TensorMemory::lanes))
    return true;
  x.fault("PLD3130",
          fmt::format("{}: {} at lane {}, columns {} to {}: tensor memory has 128 lanes of 512 columns", what,
                      operand, p.lane, p.column, p.column + columns - 1));
  return false;
}

bool check_matrix(Exec& x, const char* what, const char* operand, uint64_t descriptor) {
  if (isa::is_tcgen05_matrix(descriptor)) return true;
  x.fault(
      "PLD3135",
      fmt::format("{}: 0x{:016x} is no shared-memory descriptor of tcgen05 ({})", what, descriptor, operand),
      "bits 46 to 48 are 0b001, bits 61 to 63 name a swizzle, bits 14, 15, 30, 31 and 52 to 60 are 0");
  return false;
}

uint32_t tensor_operand(const Exec& x, const MicroOp& op, int index) {
  return index < 0 ? 0
                   : static_cast<uint32_t>(x.address_of_lane(op.operands[index], std::countr_zero(x.active)));
}

// Columns that D takes in a lane.
int d_columns(const StatedProduct& s) { return s.d.n / isa::column_parts(s.path); }

bool check_product(Exec& x, const TensorProduct& p, const StatedProduct& s) {
  const char* const what = "tcgen05.mma";
  const auto problems = isa::tcgen05_problems(s.d, s.mma);
  if (!problems.empty()) {
    x.fault("PLD3134", fmt::format("tcgen05.mma with instruction descriptor 0x{:08x}: {}", p.idesc,
                                   fmt::join(problems, "; ")));
    return false;
  }
  if (!p.a_in_tensor_memory && !check_matrix(x, what, "A", p.a_desc)) return false;
  if (!check_matrix(x, what, "B", p.b_desc)) return false;
  if (!has_tensor_memory(x, p.leader, s.mma.ctas, what)) return false;
  if (!check_columns(x, what, "D", p.d, d_columns(s))) return false;
  return !p.a_in_tensor_memory || check_columns(x, what, "A", p.a_tensor, 8);
}

// Whether the guard `enable-input-d` of the issuing thread says that D counts.
bool enables_d(const Exec& x, const DecodedOperand& enable) {
  return enable.width == 1 ? (x.predicate_value(enable) & x.active) != 0 : x.uniform_value(enable) != 0;
}

TensorProduct product_of(const Exec& x, const MicroOp& op, const isa::Tcgen05Mma& e, uint32_t leader) {
  TensorProduct p;
  p.moves = op.moves;
  p.leader = leader;
  p.d = tensor_operand(x, op, e.d);
  p.a_in_tensor_memory = e.a_tmem >= 0;
  p.a_tensor = tensor_operand(x, op, e.a_tmem);
  p.scale_a = tensor_operand(x, op, e.scale_a);
  p.scale_b = tensor_operand(x, op, e.scale_b);
  p.metadata = tensor_operand(x, op, e.metadata);
  if (e.a_desc >= 0) p.a_desc = x.uniform_value(op.operands[e.a_desc]);
  p.b_desc = x.uniform_value(op.operands[e.b_desc]);
  p.idesc = static_cast<uint32_t>(x.uniform_value(op.operands[e.idesc]));
  p.zero_c = !enables_d(x, op.operands[e.enable_d]);
  p.input_scale = e.input_scale < 0 ? 0 : static_cast<int>(op.operands[e.input_scale].offset);
  for (size_t i = 0; e.disabled_lanes >= 0 && i < op.operands[e.disabled_lanes].elements.size(); ++i)
    p.disabled[i] = static_cast<uint32_t>(x.uniform_value(op.operands[e.disabled_lanes].elements[i]));
  return p;
}

// --- what it touches, for observers -----------------------------------------------------------------------

void list_d(std::vector<Piece>& pieces, const TensorProduct& p, const StatedProduct& s, uint32_t rank) {
  const isa::TensorPlace at = isa::tensor_place(p.d);
  const auto column = static_cast<uint32_t>(at.column), columns = static_cast<uint32_t>(d_columns(s));
  const bool spread = isa::lane_of_row(s.path, 16) != 16;  // 16 rows in each quarter
  for (int q = 0; spread && q < s.rows() / 16; ++q)
    append_tensor_pieces(pieces, rank, static_cast<uint32_t>(at.lane + 32 * q), 16, column, columns);
  if (!spread)
    append_tensor_pieces(pieces, rank, static_cast<uint32_t>(at.lane),
                         static_cast<uint32_t>(s.rows() * isa::column_parts(s.path)), column, columns);
}

void list_reads(std::vector<Piece>& pieces, const TensorProduct& p, const StatedProduct& s, uint32_t rank) {
  const uint32_t window = rank << cta_rank_shift;
  const auto add = [&](uint32_t address) { append(pieces, shared_piece(address | window, 16)); };
  if (p.a_in_tensor_memory) {
    const isa::TensorPlace at = isa::tensor_place(p.a_tensor);
    append_tensor_pieces(pieces, rank, static_cast<uint32_t>(at.lane), static_cast<uint32_t>(s.rows()),
                         static_cast<uint32_t>(at.column), 8);
  } else {
    for_each_tcgen05_chunk(shared_a(p, s), add);
  }
  for_each_tcgen05_chunk(shared_b(p, s), add);
  if (!p.zero_c) list_d(pieces, p, s, rank);
}

uint8_t layout_of(uint64_t descriptor) {
  switch (isa::decode_tcgen05_matrix(descriptor).swizzle) {
    case isa::Swizzle::none:
      return layout_plain;
    case isa::Swizzle::b32:
      return layout_32b;
    case isa::Swizzle::b64:
      return layout_64b;
    case isa::Swizzle::b128:
      return layout_128b;
    default:
      return layout_unknown;
  }
}

void announce(Exec& x, const AsyncOp& op, const TensorProduct& p, const StatedProduct& s) {
  if (!x.wants<AsyncIssue>()) return;
  std::vector<Piece> reads, writes;
  for (uint32_t r = p.leader; r < p.leader + s.ctas(); ++r) {
    list_reads(reads, p, s, r);
    list_d(writes, p, s, r);
  }
  AsyncIssue issue = issue_of(x, op);
  issue.reads = reads;
  issue.writes = writes;
  const bool one_layout = p.a_in_tensor_memory || layout_of(p.a_desc) == layout_of(p.b_desc);
  issue.layout = one_layout ? layout_of(p.b_desc) : layout_unknown;
  x.emit(issue);
}

// Performed by one thread: the first active lane, and no more than one.
bool check_one_thread(Exec& x, const char* what) {
  if (std::has_single_bit(x.active)) return true;
  x.fault("PLD3137",
          fmt::format("{} is executed by {} threads of the warp together", what, std::popcount(x.active)),
          "one thread issues it: elect.sync chooses one");
  return false;
}

}  // namespace

// --- tcgen05.mma ------------------------------------------------------------------------------------------
void TensorProduct::read(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const StatedProduct s(run, op, idesc);
  for (uint32_t c = 0; c < s.ctas(); ++c) {
    const CtaState& cta = run.cluster.ctas[leader + c];
    if (a_in_tensor_memory)
      read_tensor_rows(cta, a_tensor, s.path, s.rows(), a[c]);
    else
      read_tcgen05_matrix(cta, shared_a(*this, s), a[c]);
    read_tcgen05_matrix(cta, shared_b(*this, s), b[c]);
    if (!isa::is_mxf4(s.mma.kind)) {
      spread_narrow_elements(s.d.a, a[c].bytes);
      spread_narrow_elements(s.d.b, b[c].bytes);
    }
  }
  if (s.ctas() == max_pair) join_b(*this, s);
}

void TensorProduct::land(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const StatedProduct s(run, op, idesc);
  tg::decode_b(decoded().b, kind_of(s.mma.kind), s.d.n, matrix_of(b[0], s.d.b, s.d.transpose_b, s.d.negate_b),
               s.mma.sparse);
  for (uint32_t c = 0; c < s.ctas(); ++c) {
    tg::decode_a(decoded().a, kind_of(s.mma.kind), s.rows(),
                 matrix_of(a[c], s.d.a, s.d.transpose_a, s.d.negate_a));
    multiply({*this, s, c}, run.cluster.ctas[leader + c].tensor);
  }
}

void TensorProduct::describe(const AsyncOp&, Traffic& t) const {
  t.source = a_in_tensor_memory ? isa::Space::tensor : isa::Space::shared_cta;
  t.destination = isa::Space::tensor;
  t.rows = m;
  t.columns = n;
}

Step exec_tcgen05_mma(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::Tcgen05Mma>(op);
  if (e.sparse || e.scale_vectors != 0 || e.zero_columns >= 0)
    return x.unsupported("sparse and block-scaled tcgen05.mma, and zero-column masks");
  if (!check_one_thread(x, "tcgen05.mma")) return Step::fault;
  uint32_t leader = 0;
  if (!find_pair(x, e.ctas, "tcgen05.mma", leader)) return Step::fault;
  TensorProduct product = product_of(x, op, e, leader);
  AsyncOp probe;
  probe.pc = x.pc;
  const StatedProduct s(x, probe, product.idesc);
  if (!check_product(x, product, s)) return Step::fault;
  product.m = static_cast<uint32_t>(s.d.m);
  product.n = static_cast<uint32_t>(s.d.n);
  const AsyncOp& issued = x.issue(std::move(product), x.active);
  announce(x, issued, std::get<TensorProduct>(issued.payload), s);
  return Step::next;
}

// --- tcgen05.cp -------------------------------------------------------------------------------------------
namespace {

struct CopyShape {
  int rows;
  uint32_t row_bytes;
};
CopyShape size_of(isa::TensorCopyShape shape) {
  using enum isa::TensorCopyShape;
  switch (shape) {
    case l128x256b:
      return {128, 32};
    case l4x256b:
      return {4, 32};
    case l128x128b:
      return {128, 16};
    case l64x128b_02_13:
    case l64x128b_01_23:
      return {64, 16};
    case l32x128b:
      return {32, 16};
  }
  return {};
}

// Calls visit(lane) for each lane that a row goes to.
template <class Visit>
void for_each_lane(isa::TensorCopyShape shape, int row, Visit&& visit) {
  using enum isa::TensorCopyShape;
  switch (shape) {
    case l128x256b:
    case l128x128b:
      return visit(row);
    case l4x256b:
      return visit(32 * row);
    case l64x128b_02_13:
      visit(row);
      return visit(row + 64);
    case l64x128b_01_23:
      visit(row % 32 + 64 * (row / 32));
      return visit(row % 32 + 64 * (row / 32) + 32);
    case l32x128b:
      for (int quarter = 0; quarter < 4; ++quarter) visit(row + 32 * quarter);
  }
}

const isa::TensorMemoryCopy& stated_copy(const ClusterRun& run, const AsyncOp& op) {
  return effect<isa::TensorMemoryCopy>(run.program.code[op.pc]);
}

SharedMatrix source_of(const TensorCopyIn& c, const isa::TensorMemoryCopy& e) {
  const CopyShape size = size_of(e.shape);
  return {.descriptor = c.descriptor, .rows = size.rows, .row_bytes = size.row_bytes};
}

void announce_copy(Exec& x, const AsyncOp& op, const TensorCopyIn& c, const isa::TensorMemoryCopy& e) {
  if (!x.wants<AsyncIssue>()) return;
  std::vector<Piece> reads, writes;
  const CopyShape size = size_of(e.shape);
  const auto column = static_cast<uint32_t>(isa::tensor_place(c.target).column);
  for (uint32_t r = c.leader; r < c.leader + c.ctas; ++r) {
    const uint32_t window = r << cta_rank_shift;
    for_each_tcgen05_chunk(source_of(c, e),
                           [&](uint32_t address) { append(reads, shared_piece(address | window, 16)); });
    for (uint32_t k = 0; k < size.row_bytes / 4; ++k)
      for (int row = 0; row < size.rows; ++row)
        for_each_lane(e.shape, row, [&](int lane) {
          append(writes, {isa::Space::tensor, tensor_byte(r, static_cast<uint32_t>(lane), column + k), 4});
        });
  }
  AsyncIssue issue = issue_of(x, op);
  issue.reads = reads;
  issue.writes = writes;
  issue.layout = layout_of(c.descriptor);
  x.emit(issue);
}

}  // namespace

void TensorCopyIn::read(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const isa::TensorMemoryCopy& e = stated_copy(run, op);
  for (uint32_t c = 0; c < ctas; ++c) {
    RawTile tile;
    read_tcgen05_matrix(run.cluster.ctas[leader + c], source_of(*this, e), tile);
    rows[c] = std::move(tile.bytes);
    if (e.unpack == isa::TensorUnpack::b4x16_p64) {
      spread_narrow_elements(isa::Type::e2m1, rows[c]);
      for (uint8_t& byte : rows[c])
        byte = static_cast<uint8_t>(byte << 2);  // E2M1 in bits 2 to 5 of its byte
    } else if (e.unpack == isa::TensorUnpack::b6x16_p32) {
      spread_narrow_elements(isa::Type::e2m3, rows[c]);
    }
  }
}

void TensorCopyIn::land(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const isa::TensorMemoryCopy& e = stated_copy(run, op);
  const CopyShape size = size_of(e.shape);
  const auto column = static_cast<size_t>(isa::tensor_place(target).column);
  for (uint32_t c = 0; c < ctas; ++c)
    for (int row = 0; row < size.rows; ++row)
      for_each_lane(e.shape, row, [&](int lane) {
        std::memcpy(run.cluster.ctas[leader + c].tensor.row(static_cast<uint32_t>(lane)) + column,
                    rows[c].data() + static_cast<size_t>(row) * size.row_bytes, size.row_bytes);
      });
}

void TensorCopyIn::describe(const AsyncOp&, Traffic& t) const {
  t.source = isa::Space::shared_cta;
  t.destination = isa::Space::tensor;
  t.bytes = static_cast<uint32_t>(rows[0].size());
}

Step exec_tensor_memory_copy(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::TensorMemoryCopy>(op);
  if (!check_one_thread(x, "tcgen05.cp")) return Step::fault;
  TensorCopyIn copy;
  copy.moves = op.moves;
  copy.ctas = static_cast<uint32_t>(e.ctas);
  if (!find_pair(x, e.ctas, "tcgen05.cp", copy.leader)) return Step::fault;
  copy.target = tensor_operand(x, op, e.address);
  copy.descriptor = x.uniform_value(op.operands[e.descriptor]);
  if (!check_matrix(x, "tcgen05.cp", "source", copy.descriptor)) return Step::fault;
  if (!has_tensor_memory(x, copy.leader, e.ctas, "tcgen05.cp")) return Step::fault;
  if (!check_columns(x, "tcgen05.cp", "target", copy.target,
                     static_cast<int>(size_of(e.shape).row_bytes / 4)))
    return Step::fault;
  const AsyncOp& issued = x.issue(std::move(copy), x.active);
  announce_copy(x, issued, std::get<TensorCopyIn>(issued.payload), e);
  return Step::next;
}

// --- order and completion ---------------------------------------------------------------------------------

bool are_pipelined(const AsyncOp& earlier, const AsyncOp& later) {
  if (earlier.cta_rank != later.cta_rank || earlier.warp != later.warp || earlier.lanes != later.lanes)
    return false;
  const auto* const product = std::get_if<TensorProduct>(&later.payload);
  if (product == nullptr) return false;
  if (const auto* const copy = std::get_if<TensorCopyIn>(&earlier.payload))
    return copy->leader == product->leader;
  // The same accumulator and shape; the number of CTAs is the leader's affair.
  const auto* const before = std::get_if<TensorProduct>(&earlier.payload);
  return before != nullptr && before->leader == product->leader && before->d == product->d &&
         before->m == product->m && before->n == product->n;
}

bool TensorCommit::ready(const ClusterRun& run, const AsyncOp&) const {
  return std::ranges::none_of(awaited, [&](uint64_t id) { return is_pending(run.cluster, id); });
}

void TensorCommit::land(const ClusterRun& run, const AsyncOp& op) {
  const auto arrive = [&](uint32_t address) {
    std::string why;
    if (!mbarrier_arrive(run, origin_of(run, op), address, 1, 0, &why))
      async_fault(run, op, "PLD3044", "tcgen05.commit: " + why,
                  "the mbarrier expects one arrival for each tcgen05.commit on it");
  };
  if (ctas == 0) return arrive(mbarrier);
  for_each_rank(ctas, [&](uint32_t rank) { arrive(at_rank(mbarrier, rank)); });
}

namespace {

// The tcgen05 operations of this thread that have not landed.
std::vector<uint64_t> operations_under_way(const Exec& x) {
  std::vector<uint64_t> ids;
  for (const AsyncOp& o : x.cluster.pending)
    if (o.family() == isa::AsyncFamily::tcgen05 && o.cta_rank == x.cta->rank && o.warp == x.warp->id &&
        (o.lanes & x.active) != 0)
      ids.push_back(o.id);
  return ids;
}

void announce_commit(Exec& x, const AsyncOp& op) {
  if (!x.wants<ArrivalDeferred>()) return;
  const auto& commit = std::get<TensorCommit>(op.payload);
  std::vector<uint32_t> mbarriers;
  if (commit.ctas == 0) mbarriers.push_back(commit.mbarrier);
  for_each_rank(commit.ctas, [&](uint32_t rank) { mbarriers.push_back(at_rank(commit.mbarrier, rank)); });
  x.emit(ArrivalDeferred{x.origin(), op.id, commit.awaited, mbarriers});
}

}  // namespace

Step exec_tcgen05_commit(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::Tcgen05Commit>(op);
  if (!check_one_thread(x, "tcgen05.commit")) return Step::fault;
  uint32_t leader = 0;
  if (!find_pair(x, e.ctas, "tcgen05.commit", leader)) return Step::fault;
  const uint64_t at = x.address_of_lane(op.operands[e.mbar], std::countr_zero(x.active));
  if (!check_mbarrier(x, at, at, "tcgen05.commit")) return Step::fault;
  TensorCommit commit;
  commit.mbarrier = Exec::shared_address(at);
  if (e.cta_mask >= 0) {
    commit.ctas = static_cast<uint32_t>(x.uniform_value(op.operands[e.cta_mask])) & 0xFFFF;
    if (!check_multicast(x, commit.ctas, "tcgen05.commit")) return Step::fault;
  }
  commit.awaited = operations_under_way(x);
  announce_commit(x, x.issue(std::move(commit), x.active));
  return Step::next;
}

}  // namespace palladion::sim
