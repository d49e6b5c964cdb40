#include "frontend/memory/im2col.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "frontend/core/verbs.h"
#include "frontend/memory/tma.h"

namespace palladion::plgpu {
namespace {

constexpr std::string_view im2col_verb = "copy_im2col_to_smem";

void check_windows(const Ref& images, const Ref& dst) {
  if (images.space() != MemorySpace::gmem || dst.space() != MemorySpace::smem || dst.base().cluster_rank)
    fail(Code::bad_space, fmt::format("{} copies from GMEM to this CTA's SMEM; these are {} and {}",
                                      im2col_verb, to_string(images), to_string(dst)));
  if (pl::per_byte(images.dtype()) > 1)
    frontend::unsupported(
        fmt::format("{} of {}, whose elements share a byte", im2col_verb, to_string(images)),
        "copy them as u8, in a kernel that knows how they lie");
  const size_t rank = images.rank();
  if (images.base().array < 0 || rank < 3 || rank > isa::max_tensor_rank ||
      images.base().shape.size() != rank || images.is_transposed())
    fail(Code::copy_limits,
         fmt::format(
             "{} of {}: the images are an argument of the kernel with 3 to 5 dimensions, the first one "
             "the image, the last one the channel",
             im2col_verb, to_string(images)));
  for (size_t d = 0; d + 1 < rank; ++d)
    if (images.shape(d) != images.base().shape[d])
      fail(Code::copy_limits,
           fmt::format("{} of {}: dimension {} is a slice, which only that of the channels may be",
                       im2col_verb, to_string(images), d),
           "name the first pixel in Im2colPlace, and the pixels that may begin a window in Im2colBox");
  if (dst.rank() != 2 || dst.is_transposed() || dst.dtype() != images.dtype() ||
      dst.shape(1) != images.shape(rank - 1))
    fail(Code::copy_mismatch, fmt::format("{} of {} to {}", im2col_verb, to_string(images), to_string(dst)),
         "SMEM of the same dtype with a row for each pixel and a column for each channel");
}

void check_entries(const char* name, size_t entries, size_t spatial) {
  if (entries != spatial)
    fail(Code::bad_shape,
         fmt::format("{}: .{} needs {} entries, one for each dimension between image and channel; it has {}",
                     im2col_verb, name, spatial, entries));
}

void check_entries(const Im2colBox& box, const Im2colPlace& place, size_t spatial) {
  check_entries("lower_corner", box.lower_corner.size(), spatial);
  check_entries("upper_corner", box.upper_corner.size(), spatial);
  if (!box.strides.empty()) check_entries("strides", box.strides.size(), spatial);
  check_entries("pixel", place.pixel.size(), spatial);
  check_entries("offset", place.offset.size(), spatial);
}

// A pixel's channels lie behind each other in SMEM, and pixel behind pixel.
void check_rows(const Ref& dst) {
  bool in_channels = false;
  for (const frontend::CopyDigit& digit : frontend::window_digits(dst, im2col_verb)) {
    if (digit.size == 1) continue;
    if (digit.dim == 0 && in_channels)
      fail(Code::copy_limits,
           fmt::format("{} to {}: the channels of a pixel are in several tiles", im2col_verb, to_string(dst)),
           "copy as many channels at once as a tile of the SMEM has columns");
    in_channels |= digit.dim == 1;
  }
}

// Innermost dimension first.
isa::TensorMap map_of(const Ref& images, const Ref& dst, const Im2colBox& box) {
  const Shape& shape = images.base().shape;
  const size_t rank = shape.size(), spatial = rank - 2;
  isa::TensorMap m;
  m.mode = isa::TensorMapMode::im2col;
  m.data_type = frontend::tensor_data_type(images, im2col_verb);
  m.rank = static_cast<int>(rank);
  m.swizzle = dst.base().physical.mode();
  m.l2_promotion = isa::L2Promotion::b256;
  m.channels_per_pixel = static_cast<uint32_t>(dst.shape(1));
  m.pixels_per_column = static_cast<uint32_t>(dst.shape(0));
  for (size_t i = 0; i < rank; ++i) {
    m.dims[i] = static_cast<uint64_t>(shape[rank - 1 - i]);
    if (i > 0) m.strides[i - 1] = static_cast<uint64_t>(images.base().physical.dims[rank - 1 - i].outer);
  }
  for (size_t i = 0; i < spatial; ++i) {
    const size_t from = spatial - 1 - i;
    m.lower_corner[i] = static_cast<int32_t>(box.lower_corner[from]);
    m.upper_corner[i] = static_cast<int32_t>(box.upper_corner[from]);
    if (!box.strides.empty()) m.element_strides[i + 1] = static_cast<uint32_t>(box.strides[from]);
  }
  for (const std::string& rule : isa::validate(m, Recorder::current().arch()))
    fail(Code::copy_limits, fmt::format("{} of {}: {}", im2col_verb, to_string(images), rule));
  return m;
}

// Channel, pixel, image.
std::vector<Scalar> coordinates_of(const Ref& images, const Im2colPlace& place) {
  std::vector<Scalar> at{images.starts().back()};
  at.insert(at.end(), place.pixel.rbegin(), place.pixel.rend());
  at.push_back(place.image);
  return at;
}

Operand offsets_of(Recorder& r, const Im2colPlace& place) {
  std::vector<Operand> offsets;
  for (auto o = place.offset.rbegin(); o != place.offset.rend(); ++o)
    offsets.push_back(r.pure("cvt.u16.u32", {o->astype(DType::s32).as_register()}, Type::b16));
  return Operand::vector(std::move(offsets));
}

}  // namespace

void copy_im2col_to_smem(const Ref& images, const Ref& dst, const BarrierRef& barrier, const Im2colBox& box,
                         const Im2colPlace& place, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_windows(images, dst);
  check_entries(box, place, images.rank() - 2);
  check_rows(dst);
  const frontend::TmaBox copy{.map = map_of(images, dst, box),
                              .coordinates = coordinates_of(images, place),
                              .bytes = pl::ShapeDtype{dst.dtype(), dst.shape()}.bytes()};
  const Scalar to = frontend::aligned_address(dst, im2col_verb);
  int64_t mbar_offset = 0;
  const Operand mbar = barrier.address(im2col_verb, &mbar_offset);
  barrier.state().copy_arrival(r, mbar, mbar_offset, Operand::imm(copy.bytes), r.elected());
  r.emit(
      fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
                  copy.map.rank),
      {Operand::address(to.without_offset().as_register(), to.offset()),
       frontend::tensor_operand(r, images, copy), Operand::address(mbar, mbar_offset), offsets_of(r, place)},
      r.elected());
}

}  // namespace palladion::plgpu
