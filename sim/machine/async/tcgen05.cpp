// tcgen05.mma: an asynchronous operation of one thread on shared and tensor memory (PTX, "TensorCore 5th
// Generation Family Instructions"). tcgen05_product.cpp has its arithmetic.
#include "sim/machine/async/tcgen05.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/launch/phrases/phrase.h"

namespace palladion::sim {

SharedMatrix shared_a(const TensorProduct& p, const StatedProduct& s) {
  return {p.a_desc, s.rows(), s.a_bytes(), s.d.transpose_a, s.element_bytes()};
}
SharedMatrix shared_b(const TensorProduct& p, const StatedProduct& s) {
  return {p.b_desc, s.d.n / s.mma.ctas, s.b_bytes(), s.d.transpose_b, s.element_bytes()};
}

MetadataOperand metadata_of(const TensorProduct& p, const StatedProduct& s) {
  return {.address = p.metadata,
          .rows = s.rows(),
          .element_bits = isa::tcgen05_element_bits(s.mma.kind),
          .selector = s.d.sparsity_selector};
}

ScaleOperand scales_of_a(const TensorProduct& p, const StatedProduct& s) {
  return {.name = "A",
          .address = p.scale_a,
          .rows = s.rows(),
          .count = s.mma.scale_vectors,
          .id = s.d.scale_a_id};
}
ScaleOperand scales_of_b(const TensorProduct& p, const StatedProduct& s) {
  return {.name = "B",
          .address = p.scale_b,
          .rows = s.d.n,
          .count = s.mma.scale_vectors,
          .id = s.d.scale_b_id,
          .parts = isa::column_parts(s.path)};
}

namespace {

// --- issue ------------------------------------------------------------------------------------------------

bool spreads_rows(isa::DataPath path) { return isa::lane_of_row(path, 16) != 16; }  // 16 in each quarter

bool check_tensor_a(Exec& x, const char* what, const TensorProduct& p, const StatedProduct& s) {
  constexpr int columns = 8;  // 32 bytes of K
  const bool spread = spreads_rows(s.path);
  if (!check_place(x, what, "A", p.a_tensor, columns, spread)) return false;
  const int lane = isa::tensor_place(p.a_tensor).lane, d_lane = isa::tensor_place(p.d).lane;
  if (lane == d_lane) return true;
  x.fault(Code::tensor_memory_lanes, say<Phrase::lanes_of_a_and_d>(what, lane, d_lane));
  return false;
}

bool check_metadata(Exec& x, const char* what, const TensorProduct& p, const StatedProduct& s) {
  const MetadataOperand m = metadata_of(p, s);
  if (!check_place(x, what, "metadata", p.metadata, m.columns() + m.selector)) return false;
  const int column = isa::tensor_place(p.metadata).column;
  if (column % 2 == 0) return true;
  x.fault(Code::tcgen05_instruction_descriptor, say<Phrase::odd_metadata_column>(what, column),
          say<Phrase::selector_chooses_columns>());
  return false;
}

bool check_product(Exec& x, const TensorProduct& p, const StatedProduct& s) {
  const char* const what = s.mma.sparse ? "tcgen05.mma.sp" : "tcgen05.mma";
  const auto problems = isa::tcgen05_problems(s.d, s.mma);
  if (!problems.empty()) {
    x.fault(
        Code::tcgen05_instruction_descriptor,
        say<Phrase::bad_instruction_descriptor>(what, p.idesc, fmt::format("{}", fmt::join(problems, "; "))));
    return false;
  }
  if (!p.a_in_tensor_memory && !check_matrix(x, what, "A", p.a_desc)) return false;
  if (!check_matrix(x, what, "B", p.b_desc)) return false;
  if (!has_tensor_memory(x, p.leader, s.mma.ctas, what)) return false;
  if (!check_place(x, what, "D", p.d, s.d_columns(), spreads_rows(s.path))) return false;
  if (p.a_in_tensor_memory && !check_tensor_a(x, what, p, s)) return false;
  if (s.mma.sparse && !check_metadata(x, what, p, s)) return false;
  if (s.mma.scale_vectors == 0) return true;
  return check_place(x, what, "the scales of A", p.scale_a, scales_of_a(p, s).columns()) &&
         check_place(x, what, "the scales of B", p.scale_b, scales_of_b(p, s).columns());
}

// Why the machine does not run a product that the manual permits; none: it does.
Statement not_modelled(const TensorProduct& p, const StatedProduct& s) {
  if (s.mma.sparse && !s.mma.weight_stationary && s.rows() != 128)
    return say<Phrase::sparse_product_of_64_rows>();
  if ((p.zero_columns >> 56 & 0x3F) != 0) return say<Phrase::shifted_zero_columns>();
  return {};
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
  p.scale_a = isa::scale_address(tensor_operand(x, op, e.scale_a));
  p.scale_b = isa::scale_address(tensor_operand(x, op, e.scale_b));
  p.metadata = tensor_operand(x, op, e.metadata);
  if (e.a_desc >= 0) p.a_desc = x.uniform_value(op.operands[e.a_desc]);
  p.b_desc = x.uniform_value(op.operands[e.b_desc]);
  p.idesc = static_cast<uint32_t>(x.uniform_value(op.operands[e.idesc]));
  p.zero_c = !enables_d(x, op.operands[e.enable_d]);
  p.input_scale = e.input_scale < 0 ? 0 : static_cast<int>(op.operands[e.input_scale].offset);
  if (e.zero_columns >= 0) p.zero_columns = x.uniform_value(op.operands[e.zero_columns]);
  for (size_t i = 0; e.disabled_lanes >= 0 && i < op.operands[e.disabled_lanes].elements.size(); ++i)
    p.disabled[i] = static_cast<uint32_t>(x.uniform_value(op.operands[e.disabled_lanes].elements[i]));
  return p;
}

// --- what it touches, for observers -----------------------------------------------------------------------

// Rows of D, or of A beside them; `columns` in each part of the lanes.
void list_rows(std::vector<Piece>& pieces, const StatedProduct& s, CtaRank rank, uint32_t address,
               int columns) {
  const isa::TensorPlace at = isa::tensor_place(address);
  const auto list = [&](int lane, int lanes) {
    append_tensor_pieces(pieces, rank, static_cast<uint32_t>(lane), static_cast<uint32_t>(lanes),
                         static_cast<uint32_t>(at.column), static_cast<uint32_t>(columns));
  };
  if (!spreads_rows(s.path)) return list(at.lane, s.rows() * isa::column_parts(s.path));
  for (int q = 0; q < s.rows() / 16; ++q) list(at.lane + 32 * q, 16);
}

void list_all_lanes(std::vector<Piece>& pieces, CtaRank rank, uint32_t address, int skipped, int columns) {
  append_tensor_pieces(pieces, rank, 0, TensorMemory::lanes,
                       static_cast<uint32_t>(isa::tensor_place(address).column + skipped),
                       static_cast<uint32_t>(columns));
}

void list_reads(std::vector<Piece>& pieces, const TensorProduct& p, const StatedProduct& s, CtaRank rank) {
  const uint32_t window = uint32_t{rank} << cta_rank_shift;
  const auto add = [&](uint32_t address) {
    append(pieces, shared_piece(SharedAddress(address | window), 16));
  };
  if (p.a_in_tensor_memory)
    list_rows(pieces, s, rank, p.a_tensor, 8);
  else
    for_each_tcgen05_chunk(shared_a(p, s), add);
  for_each_tcgen05_chunk(shared_b(p, s), add);
  if (!p.zero_c) list_rows(pieces, s, rank, p.d, s.d_columns());
  if (s.mma.sparse) {
    const MetadataOperand m = metadata_of(p, s);
    list_all_lanes(pieces, rank, p.metadata, m.selector, m.columns());
  }
  if (s.mma.scale_vectors == 0) return;
  list_all_lanes(pieces, rank, p.scale_a, 0, scales_of_a(p, s).columns());
  list_all_lanes(pieces, rank, p.scale_b, 0, scales_of_b(p, s).columns());
}

void announce(Exec& x, const AsyncOp& op, const TensorProduct& p, const StatedProduct& s) {
  if (!x.wants<AsyncIssue>()) return;
  std::vector<Piece> reads, writes;
  for (CtaRank r(p.leader); r < p.leader + s.ctas(); ++r) {
    list_reads(reads, p, s, r);
    list_rows(writes, s, r, p.d, s.d_columns());
  }
  AsyncIssue issue = issue_of(x, op);
  issue.reads = reads;
  issue.writes = writes;
  const bool one_layout = p.a_in_tensor_memory || layout_of(p.a_desc) == layout_of(p.b_desc);
  issue.layout = one_layout ? layout_of(p.b_desc) : uint8_t{layout_unknown};
  x.emit(issue);
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::Tcgen05Mma& e) {
  if (!check_one_thread(x, "tcgen05.mma")) return Step::fault;
  uint32_t leader = 0;
  if (!find_pair(x, e.ctas, "tcgen05.mma", leader)) return Step::fault;
  TensorProduct product = product_of(x, op, e, leader);
  const StatedProduct s(e, product.idesc);
  if (s.d.k96) return x.unsupported(say<Phrase::product_of_k96>());
  if (!check_product(x, product, s)) return Step::fault;
  if (Statement why = not_modelled(product, s)) return x.unsupported(std::move(why));
  product.m = static_cast<uint32_t>(s.d.m);
  product.n = static_cast<uint32_t>(s.d.n);
  product.k = static_cast<uint32_t>(s.k());
  product.rows = static_cast<uint32_t>(s.rows());
  product.columns = static_cast<uint32_t>(s.d.n / isa::column_parts(s.path));
  product.ctas = ((1U << s.ctas()) - 1) << product.leader;
  product.shared_bytes = static_cast<uint32_t>((product.a_in_tensor_memory ? 0 : s.a_bytes()) * product.rows +
                                               s.b_bytes() * product.n / s.ctas());
  const AsyncOp& issued = x.issue(std::move(product), x.active);
  announce(x, issued, std::get<TensorProduct>(issued.payload), s);
  return Step::next;
}

}  // namespace palladion::sim
