#include "cuda/cubin/line_table.h"

#include <map>

#include "cuda/cubin/bytes.h"

namespace palladion::cuda::cubin {
namespace {

// Operations of the program that makes the rows (DWARF 2, 6.2.5).
enum Standard : uint8_t {
  extended = 0,
  copy = 1,
  advance_pc = 2,
  advance_line = 3,
  set_file = 4,
  const_add_pc = 8,
  fixed_advance_pc = 9
};
enum Extended : uint8_t { end_sequence = 1, set_address = 2, inlined_call = 0x90, function_name = 0x91 };

// Symbols of code, by the place of the address that they fill.
std::map<uint64_t, uint64_t> symbols_by_place(std::string_view relocations) {
  constexpr uint64_t entry_bytes = 24;
  std::map<uint64_t, uint64_t> out;
  for (Cursor c(relocations); !c.at_end() && c.at() + entry_bytes <= relocations.size();) {
    const auto place = c.take<uint64_t>(), info = c.take<uint64_t>();
    c.skip(sizeof(int64_t));
    out[place] = info >> 32;
  }
  return out;
}

// One unit, from behind its length.
class Unit {
 public:
  Unit(std::string_view section, uint64_t begin, uint64_t end, const std::map<uint64_t, uint64_t>& symbols)
      : in_(section.substr(0, end), begin), symbols_(symbols) {}

  LineUnit read() {
    const auto version = in_.take<uint16_t>();
    constexpr uint16_t oldest = 2, newest = 3;
    if (version < oldest || version > newest) return {};
    const auto header_bytes = in_.take<uint32_t>();
    const uint64_t program = in_.at() + header_bytes;
    header();
    in_.skip(program < in_.at() ? 0 : program - in_.at());
    while (!in_.at_end()) step();
    return std::move(out_);
  }

 private:
  void header() {
    least_instruction_ = in_.take<uint8_t>();
    in_.skip(1);  // whether rows begin statements
    line_base_ = in_.take<int8_t>();
    line_range_ = in_.take<uint8_t>();
    for (uint8_t n = opcode_base_ = in_.take<uint8_t>(); n > 1; --n) operands_.push_back(in_.take<uint8_t>());
    std::vector<std::string> folders;
    for (std::string_view name = in_.text(); !name.empty(); name = in_.text()) folders.emplace_back(name);
    for (std::string_view name = in_.text(); !name.empty(); name = in_.text()) {
      const uint64_t folder = in_.number();
      in_.number(), in_.number();  // time and size
      const bool in_folder = folder != 0 && folder <= folders.size() && !name.starts_with('/');
      out_.files.push_back((in_folder ? folders[folder - 1] + "/" : std::string()) + std::string(name));
    }
  }

  void step() {
    const auto op = in_.take<uint8_t>();
    if (op >= opcode_base_) return special(op);
    switch (op) {
      case extended:
        return extended_step();
      case copy:
        return add_row();
      case advance_pc:
        row_.address += in_.number() * least_instruction_;
        break;
      case advance_line:
        row_.line += static_cast<uint32_t>(in_.signed_number());
        break;
      case set_file:
        row_.file = static_cast<uint32_t>(in_.number());
        break;
      case const_add_pc:
        row_.address += advance_of(255);
        break;
      case fixed_advance_pc:
        row_.address += in_.take<uint16_t>();
        break;
      default:
        for (int i = op <= operands_.size() ? operands_[op - 1u] : 0; i > 0; --i) in_.number();
    }
  }

  uint64_t advance_of(uint8_t op) const {
    return line_range_ == 0 ? 0 : uint64_t((op - opcode_base_) / line_range_) * least_instruction_;
  }
  void special(uint8_t op) {
    row_.address += advance_of(op);
    if (line_range_ != 0) row_.line += static_cast<uint32_t>(line_base_ + (op - opcode_base_) % line_range_);
    add_row();
  }

  void extended_step() {
    const uint64_t bytes = in_.number(), begin = in_.at();
    switch (in_.take<uint8_t>()) {
      case end_sequence:
        sequence_.code = code_;
        out_.sequences.push_back(std::move(sequence_));
        sequence_ = {};
        row_ = first_row;
        break;
      case set_address: {
        const auto symbol = symbols_.find(in_.at());
        code_ = symbol == symbols_.end() ? no_code : symbol->second;
        row_.address = in_.take<uint64_t>();
        break;
      }
      case inlined_call:
        row_.context = static_cast<uint32_t>(in_.number());
        row_.function = static_cast<uint32_t>(in_.number());
        break;
      case function_name:
        row_.function = static_cast<uint32_t>(in_.number());
        break;
      default:
        break;
    }
    const uint64_t read = in_.at() - begin;
    in_.skip(bytes > read ? bytes - read : 0);
  }

  void add_row() { sequence_.rows.push_back(row_); }

  static constexpr LineRow first_row{.file = 1, .line = 1};
  Cursor in_;
  const std::map<uint64_t, uint64_t>& symbols_;
  uint8_t least_instruction_ = 1, line_range_ = 1, opcode_base_ = 1;
  int8_t line_base_ = 0;
  std::vector<uint8_t> operands_;  // how many each operation has
  uint64_t code_ = no_code;
  LineRow row_ = first_row;
  LineSequence sequence_;
  LineUnit out_;
};

}  // namespace

std::vector<LineUnit> line_table(std::string_view section, std::string_view relocations) {
  constexpr uint32_t no_length = 0xfffffff0;  // of 64 bits, or reserved
  const auto symbols = symbols_by_place(relocations);
  std::vector<LineUnit> out;
  for (uint64_t at = 0; at + sizeof(uint32_t) < section.size();) {
    const auto bytes = number_at<uint32_t>(section, at);
    at += sizeof bytes;
    if (bytes == 0 || bytes >= no_length || bytes > section.size() - at) break;
    out.push_back(Unit(section, at, at + bytes, symbols).read());
    at += bytes;
  }
  return out;
}

}  // namespace palladion::cuda::cubin
