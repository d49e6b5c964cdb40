// A texture or surface object as text, what stands behind `tex:` and `surf:` of an --arg (arg_spec.h):
//
//   tex:f32[48,64]=randn(7),filter=linear,address=clamp     a texture over an array of its own
//   tex:u8[48,64,4]=photo.npy,channels=4,read=normalized    texels of four channels: the last size
//   tex:f32[48,64]@2                                        a texture over the array of argument 2
//   surf:out:f32[48,64]=result.npy                          a surface; in:, out: or inout:, as arrays
//   surf:f32[48,64]@2                                       a surface over the array of argument 2
//
// Sizes are written outermost first: [width], [height,width], [depth,height,width]; of layered and cube
// images the layers (6 faces a cube) come first. Options, each `,name=value`:
//
//   geometry   1d, 2d, 3d, a1d, a2d, cube, acube, or linear: 1D linear memory, read by texel numbers;
//              without it 1d, 2d or 3d by the number of sizes
//   channels   1, 2 or 4
// and of a texture alone:
//   filter     point, linear
//   address    clamp, wrap, mirror, border; one for each coordinate, x first, with `/` between: wrap/clamp
//   coords     texels, normalized (0 to 1 over the image)
//   read       element, normalized (integers of 8 and 16 bits become 0 to 1, or -1 to 1)
//   border     the colour outside: one number for all channels, or one for each with `/` between
//
// A sampler of the independent texturing mode, behind `sampler:`, has filter, address and coords of these
// (without coords the texture's): sampler:filter=linear,address=wrap
#pragma once

#include <optional>
#include <string_view>

#include "verify/launch/arg_spec.h"

namespace palladion {

// `text`: what stands behind `tex:` or `surf:`. The error states what was expected.
Result<TextureArg> parse_texture(std::string_view text, bool surface);

// `text`: what stands behind `sampler:`. The eight bytes of a .samplerref.
Result<ScalarArg> parse_sampler(std::string_view text);

}  // namespace palladion
