// The driver's rules for tensor maps (CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col),
// one check a sentence of the manual; those that the manual does not have were measured with driver 580.159
// on an H200 (tests/device/tma.md).
#include <fmt/format.h>

#include "isa/arch/arch.h"
#include "isa/formats/tensor_map.h"

namespace palladion::isa {
namespace {

class Rules {
 public:
  Rules(const TensorMap& map, const ArchSpec& arch) : m_(map), arch_(arch) {}

  std::vector<std::string> broken() {
    if (!check_rank()) return std::move(broken_);
    check_architecture();
    check_address();
    check_dims();
    check_strides();
    if (m_.mode == TensorMapMode::tiled)
      check_box();
    else
      check_im2col();
    check_element_strides();
    check_inner_extent();
    check_volume();
    check_swizzle();
    check_fill();
    return std::move(broken_);
  }

 private:
  template <class... Args>
  void require(bool holds, fmt::format_string<Args...> text, Args&&... args) {
    if (!holds) broken_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  bool align16b_type() const {
    return m_.data_type == TensorDataType::u4x16_align16b || m_.data_type == TensorDataType::u6x16_align16b;
  }
  uint32_t unit() const { return m_.interleave == Interleave::b32 || align16b_type() ? 32 : 16; }
  std::string_view unit_reason() const {
    if (m_.interleave == Interleave::b32) return " with INTERLEAVE_32B";
    return align16b_type() ? " for an ALIGN16B data type" : "";
  }

  bool check_rank() {
    require(m_.rank >= 1 && m_.rank <= max_tensor_rank, "rank is {}, it must be 1 to 5", m_.rank);
    require(m_.interleave == Interleave::none || m_.rank >= 3,
            "rank is {}, an interleaved layout needs at least 3", m_.rank);
    require(m_.mode == TensorMapMode::tiled || m_.rank >= 3, "rank is {}, im2col needs 3, 4 or 5", m_.rank);
    return broken_.empty();
  }

  void check_architecture() {
    require(arch_.sm >= 90, "tensor maps need sm_90 or later, this is sm_{}", arch_.sm);
    require(arch_.sm >= 100 || !is_packed(m_.data_type), "data type {} needs sm_100 or later",
            name(m_.data_type));
    require(arch_.sm >= 100 || m_.swizzle <= Swizzle::b128, "swizzle {} needs sm_100 or later",
            name(m_.swizzle));
    require(arch_.sm >= 100 || m_.mode <= TensorMapMode::im2col, "{} needs sm_100 or later", name(m_.mode));
  }

  void check_address() {
    require(m_.global_address % unit() == 0, "global address {:#x} is not a multiple of {} bytes{}",
            m_.global_address, unit(), unit_reason());
  }

  void check_dims() {
    for (int i = 0; i < m_.rank; ++i)
      require(m_.dims[i] >= 1 && m_.dims[i] <= uint64_t{1} << 32,
              "dimension {} has size {}, it must be 1 to 2^32", i, m_.dims[i]);
    if (align16b_type())
      require(m_.dims[0] % 128 == 0, "dimension 0 has size {}, {} needs a multiple of 128", m_.dims[0],
              name(m_.data_type));
    if (m_.data_type == TensorDataType::u4x16_align8b)
      require(m_.dims[0] % 2 == 0, "dimension 0 has size {}, {} needs a multiple of 2", m_.dims[0],
              name(m_.data_type));
  }

  void check_strides() {
    for (int i = 0; i + 1 < m_.rank; ++i) {
      require(m_.strides[i] % unit() == 0, "the stride of dimension {} is {} bytes, not a multiple of {}{}",
              i + 1, m_.strides[i], unit(), unit_reason());
      require(m_.strides[i] < uint64_t{1} << 40,
              "the stride of dimension {} is {} bytes, it must be below 2^40", i + 1, m_.strides[i]);
    }
  }

  void check_box() {
    for (int i = 0; i < m_.rank; ++i)
      require(m_.box[i] >= 1 && m_.box[i] <= static_cast<uint32_t>(arch_.max_box),
              "box dimension {} is {}, it must be 1 to {}", i, m_.box[i], arch_.max_box);
  }

  // H and D are single positions; the corners are those of W, with 16 bits for every rank.
  void check_im2col_wide() {
    check_corner("lower", 0, m_.lower_corner[0], 1 << 15);
    check_corner("upper", 0, m_.upper_corner[0], 1 << 15);
    require(m_.interleave == Interleave::none, "an interleaved layout cannot be used with {}", name(m_.mode));
    require(m_.swizzle != Swizzle::none && m_.swizzle != Swizzle::b128_atom_32b_flip_8b,
            "swizzle {} cannot be used with {}", name(m_.swizzle), name(m_.mode));
    check_pixels();
  }

  void check_im2col() {
    if (m_.mode != TensorMapMode::im2col) return check_im2col_wide();
    constexpr std::array<int, 3> corner_bits = {16, 8, 5};  // for rank 3, 4, 5
    const int limit = 1 << (corner_bits[m_.rank - 3] - 1);
    for (int i = 0; i + 2 < m_.rank; ++i) {
      check_corner("lower", i, m_.lower_corner[i], limit);
      check_corner("upper", i, m_.upper_corner[i], limit);
      require(m_.dims[i + 1] < uint64_t{1} << 31, "dimension {} has size {}, im2col needs less than 2^31",
              i + 1, m_.dims[i + 1]);
      const int64_t extent = static_cast<int64_t>(m_.dims[i + 1]) + m_.upper_corner[i] - m_.lower_corner[i];
      require(extent > 0, "the im2col bounding box is empty in dimension {}: size {}, corners {} and {}",
              i + 1, m_.dims[i + 1], m_.lower_corner[i], m_.upper_corner[i]);
    }
    check_pixels();
  }

  void check_pixels() {
    require(m_.channels_per_pixel >= 1 && m_.channels_per_pixel <= static_cast<uint32_t>(arch_.max_box),
            "channels per pixel is {}, it must be 1 to {}", m_.channels_per_pixel, arch_.max_box);
    require(m_.pixels_per_column >= 1 && m_.pixels_per_column <= static_cast<uint32_t>(arch_.max_box_pixels),
            "pixels per column is {}, it must be 1 to {}", m_.pixels_per_column, arch_.max_box_pixels);
  }

  void check_corner(std::string_view which, int i, int value, int limit) {
    require(value >= -limit && value < limit,
            "{} corner {} of a rank-{} im2col map is {}, it must be {} to {}", which, i, m_.rank, value,
            -limit, limit - 1);
  }

  void check_element_strides() {
    for (int i = 0; i < m_.rank; ++i)
      require(m_.element_strides[i] >= 1 && m_.element_strides[i] <= 8,
              "the element stride of dimension {} is {}, it must be 1 to 8", i, m_.element_strides[i]);
  }

  // The innermost run that lands in shared memory.
  void check_inner_extent() {
    const bool tiled = m_.mode == TensorMapMode::tiled;
    const uint32_t elements = tiled ? m_.box[0] : m_.channels_per_pixel;
    const std::string_view what = tiled ? "box dimension 0" : "channels per pixel";
    if (align16b_type()) {
      require(elements == 128, "{} is {}, {} needs exactly 128", what, elements, name(m_.data_type));
      return;
    }
    if (m_.interleave == Interleave::b32) return;
    const uint32_t inner_bytes = elements * bits(m_.data_type) / 8;
    require(inner_bytes % 16 == 0, "{} is {} elements of {} = {} bytes, not a multiple of 16", what, elements,
            name(m_.data_type), inner_bytes);
    require(m_.interleave != Interleave::none || m_.swizzle == Swizzle::none ||
                inner_bytes <= span_bytes(m_.swizzle),
            "{} is {} bytes, more than the {} bytes that swizzle {} spans", what, inner_bytes,
            span_bytes(m_.swizzle), name(m_.swizzle));
  }

  // Measured. The driver counts whole element strides, although a copy starts one more; rows count without
  // the swizzle's padding.
  void check_volume() {
    if (!broken_.empty()) return;
    const auto limit = static_cast<uint64_t>(arch_.shared_bytes_per_sm);
    uint64_t bits_moved = static_cast<uint64_t>(bits(m_.data_type));
    if (m_.is_im2col()) {
      bits_moved *= uint64_t{m_.channels_per_pixel} * m_.pixels_per_column;
    } else {
      for (int i = 0; i < m_.rank; ++i) {
        const bool strided = i > 0 && m_.element_strides[i] != 0;
        bits_moved *= strided ? m_.box[i] / m_.element_strides[i] : m_.box[i];
      }
    }
    require(bits_moved / 8 <= limit, "the {} is {} bytes, more than the {} bytes of shared memory",
            m_.mode == TensorMapMode::tiled ? "box" : "column of pixels", bits_moved / 8, limit);
  }

  void check_swizzle() {
    require(m_.interleave != Interleave::b32 || m_.swizzle == Swizzle::b32,
            "swizzle is {}, INTERLEAVE_32B needs swizzle 32B", name(m_.swizzle));
    require(m_.swizzle != Swizzle::b96 || arch_.sm >= 103, "swizzle 96B needs sm_103");
    if (m_.data_type == TensorDataType::u6x16_align16b)
      require(m_.interleave == Interleave::none, "{} cannot be interleaved", name(m_.data_type));
    if (align16b_type()) {
      const bool u6 = m_.data_type == TensorDataType::u6x16_align16b;
      const bool allowed = m_.swizzle == Swizzle::none || m_.swizzle == Swizzle::b128 ||
                           m_.swizzle == Swizzle::b128_atom_32b ||
                           (u6 && m_.swizzle == Swizzle::b128_atom_64b);
      require(allowed, "swizzle {} cannot be used with {}", name(m_.swizzle), name(m_.data_type));
    }
  }

  void check_fill() {
    require(m_.oob_fill == OobFill::zero || is_float(m_.data_type),
            "NaN fill of out-of-bounds elements needs a floating-point data type, this is {}",
            name(m_.data_type));
  }

  const TensorMap& m_;
  const ArchSpec& arch_;
  std::vector<std::string> broken_;
};

}  // namespace

std::string why_not_copied(const TensorMap& map, bool load) {
  const bool u4 = map.data_type == TensorDataType::u4x16_align16b;
  const bool u6 = map.data_type == TensorDataType::u6x16_align16b;
  if (!load && map.swizzle == Swizzle::b128_atom_32b_flip_8b)
    return fmt::format("swizzle {} is for loads only", name(map.swizzle));
  if (!load && u4) return fmt::format("data type {} is for loads only", name(map.data_type));
  if (load && u6 && map.swizzle == Swizzle::b128_atom_64b)
    return fmt::format("swizzle {} with data type {} is for stores only", name(map.swizzle),
                       name(map.data_type));
  return {};
}

std::vector<std::string> validate(const TensorMap& map, const ArchSpec& arch) {
  return Rules(map, arch).broken();
}

}  // namespace palladion::isa
