// Textures and surfaces (PTX, "Texture Instructions", "Surface Instructions"). An object is a 64-bit handle
// or the name of a .texref or .surfref variable; samplers stand behind it ([texture, sampler, {x, y}]).
// Coordinates that the manual pads to four may be padded.
#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
// The bytes are those of linear memory or of an array; which ones, the object decides.
Footprint TextureLoad::footprint() const {
  return {.values = Values::loaded,
          .memory = {{.space = Space::global,
                      .content = Content::texels,
                      .reads = true,
                      .address = texel,
                      .bytes = 16}},
          .control = {texel, lod, ddx, ddy, offset}};
}

Footprint SurfaceAccess::footprint() const {
  const bool formatted = action == SurfaceAction::store && texels;  // sust.p: of the surface's format
  const uint32_t size = formatted ? 16 : static_cast<uint32_t>(bytes(type) * elements);
  return {.values = action == SurfaceAction::load    ? Values::loaded
                    : action == SurfaceAction::store ? Values::stored
                                                     : Values::combined,
          .memory = {{.space = Space::global,
                      .content = Content::texels,
                      .reads = action != SurfaceAction::store,
                      .writes = action != SurfaceAction::load,
                      .address = texel,
                      .bytes = size}},
          .control = {texel},
          .order = action == SurfaceAction::reduce ? Order::relaxed : Order::weak,
          .scope = action == SurfaceAction::reduce ? Scope::gpu : Scope::cta};
}

Footprint TextureQuery::footprint() const { return {.values = Values::none, .control = {object, lod}}; }

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

constexpr Timing timing{Unit::lsu, "texture"};

Geometry geometry_of(const Instruction& i) {
  using enum Geometry;
  static constexpr std::pair<std::string_view, Geometry> words[] = {
      {"1d", d1}, {"2d", d2}, {"3d", d3}, {"a1d", a1d}, {"a2d", a2d}, {"cube", cube}, {"acube", acube}};
  return decode::word_of(i.mod("geom"), words);
}

Effect tex(const Instruction& i, const DecodeContext&) {
  const bool gathers = i.op->name == "tld4";
  if (decode::index(i, "compare") >= 0) return decode::unsupported(i, "comparison of depths is not modelled");
  if (gathers && decode::index(i, "offset") >= 0)
    return decode::unsupported(i, "offsets of gathers are not modelled");
  if (i.mod("geom").ends_with("dms")) return decode::unsupported(i, "multi-sample textures are not modelled");
  if (i.mod("dtype").starts_with("f16"))
    return decode::unsupported(i, "results of half precision are not modelled");
  const auto optional = [&](std::string_view name) { return gathers ? -1 : decode::index(i, name); };
  TextureLoad e{.geometry = geometry_of(i),
                .type = i.type("dtype"),
                .integer_coordinates = !gathers && i.mod("ctype") == "s32",
                .resident = decode::written(i, "p"),
                .texel = decode::index(i, "texel"),
                .lod = optional("lod"),
                .ddx = optional("ddx"),
                .ddy = optional("ddy"),
                .offset = optional("offset"),
                .sampled = i.operand("texel")->sampled};
  if (gathers) {
    e.component = static_cast<int>(std::string_view("rgba").find(i.mod("comp")));
    if (e.geometry != Geometry::d2 && e.geometry != Geometry::a2d)
      return decode::unsupported(i, "gathers from cube maps are not modelled");
  }
  return e;
}

Effect surface(const Instruction& i, const DecodeContext&) {
  using enum SurfaceBounds;
  static constexpr std::pair<std::string_view, SurfaceBounds> words[] = {
      {"trap", trap}, {"clamp", clamp}, {"zero", zero}};
  if (isa::bits(i.type("type")) == 64 && i.op->name == "sured")
    return decode::unsupported(i, "reductions of 64 bits are not modelled");
  SurfaceAccess e{.action = i.op->name == "suld"   ? SurfaceAction::load
                            : i.op->name == "sust" ? SurfaceAction::store
                                                   : SurfaceAction::reduce,
                  .geometry = geometry_of(i),
                  .type = i.type("type"),
                  .bounds = decode::word_of(i.mod("clamp"), words),
                  .texel = decode::index(i, "texel"),
                  .data = decode::index(i, i.op->name == "suld" ? "d" : "b")};
  if (e.action == SurfaceAction::reduce) {
    e.op = decode::atomic_op(i);
    e.texels = i.mod("unit") == "p";
  } else {
    e.texels = i.op->name == "sust" && i.mod("unit") == "p";
    e.elements = decode::elements(i);
  }
  return e;
}

Effect query(const Instruction& i, const DecodeContext&) {
  using enum TextureAttribute;
  static constexpr std::pair<std::string_view, TextureAttribute> words[] = {
      {"width", width},
      {"height", height},
      {"depth", depth},
      {"channel_data_type", channel_data_type},
      {"channel_order", channel_order},
      {"normalized_coords", normalized_coords},
      {"array_size", array_size},
      {"num_mipmap_levels", num_mipmap_levels},
      {"filter_mode", filter_mode},
      {"addr_mode_0", address_mode_0},
      {"addr_mode_1", address_mode_1},
      {"addr_mode_2", address_mode_2},
      {"force_unnormalized_coords", force_unnormalized_coords},
      {"texref", is_texture},
      {"samplerref", is_sampler},
      {"surfref", is_surface}};
  const bool is_type = i.op->name == "istypep";
  if (!is_type && i.mod("query") == "num_samples")
    return decode::unsupported(i, "multi-sample textures are not modelled");
  if (!is_type && i.mod("query") == "memory_layout")
    return decode::unsupported(i, "the layout of a surface in memory is not modelled");
  return TextureQuery{.attribute = decode::word_of(i.mod(is_type ? "type" : "query"), words),
                      .surface = i.op->name == "suq",
                      .dst = decode::index(i, is_type ? "p" : "d"),
                      .object = decode::index(i, "a"),
                      .lod = i.op->name == "txq" ? decode::index(i, "lod") : -1};
}

std::vector<OpDef> texture_defs() {
  return {
      OpDef{
          "tex",
          "Looks up a texture: point or linear filtering, mipmap level by .level or .grad. Texture "
          "Instructions: tex.",
          decode::expand(
              {"tex.geom:1d|2d|3d.v4.dtype:u32|s32|f32.ctype:s32|f32 $result",
               "[2.3 sm_20] tex.geom:a1d|a2d.v4.dtype:u32|s32|f32.ctype:s32|f32 $result",
               "[3.0 sm_20] tex.geom:cube|acube.v4.dtype:u32|s32|f32.ctype:f32 $result",
               "[3.1] tex.mip:base.geom:1d|a1d|2d|a2d|3d.v4.dtype:u32|s32|f32.ctype:s32|f32 $result",
               "[3.1] tex.mip:base.geom:cube|acube.v4.dtype:u32|s32|f32.ctype:f32 $result",
               "[3.1] tex.level.geom:1d|a1d|2d|a2d|3d.v4.dtype:u32|s32|f32.ctype:s32|f32 $result, lod:ctype",
               "[3.1] tex.level.geom:cube|acube.v4.dtype:u32|s32|f32.ctype:f32 $result, lod:f32",
               "[4.3] tex.geom:1d|a1d|2d|a2d|cube|acube.v4.dtype:u32|s32|f32.ctype:f32 $result, compare:f32",
               "[4.3] tex.geom:1d|a1d|2d|a2d|3d.v4.dtype:u32|s32|f32.ctype:s32|f32 $result, offset:s32^*",
               "[4.3] tex.level.geom:1d|a1d|2d|a2d|3d.v4.dtype:u32|s32|f32.ctype:s32|f32 $result, lod:ctype, "
               "offset:s32^*",
               "[3.1] tex.grad.geom:1d|a1d|2d|a2d|3d.v4.dtype:u32|s32|f32.ctype:f32 $result, ddx:f32^*, "
               "ddy:f32^*",
               "[4.3] tex.grad.geom:cube|acube.v4.dtype:u32|s32|f32.ctype:f32 $result, ddx:f32^*, "
               "ddy:f32^*",
               "[4.3] tex.geom:1d|a1d|2d|a2d.v4.dtype:u32|s32|f32.ctype:f32 $result, offset:s32^*, "
               "compare:f32",
               "[3.2 sm_30] tex.geom:2dms|a2dms.v4.dtype:u32|s32|f32.ctype:s32 $result",
               "[4.2 sm_53] tex.geom:1d|a1d|2d|a2d|3d.v4.dtype:f16.ctype:s32|f32 $result",
               "[4.2 sm_53] tex.geom:1d|a1d|2d|a2d|3d.v2.dtype:f16x2.ctype:s32|f32 "
               "=d:dtype+^2<p:;|=_p:pred>, texel:tensor"},
              std::initializer_list<decode::Definition>{
                  {"$result", "=d:dtype+^4<p:;|=_p:pred>, texel:tensor"}}),
          timing, tex},
      OpDef{
          "tld4",
          "Gathers one component of the four texels that linear filtering would read. Texture Instructions: "
          "tld4.",
          decode::expand(
              {"[2.2] tld4.comp:r|g|b|a.geom:2d|a2d.v4.dtype:u32|s32|f32.f32 =d:dtype+^4<p:;|=_p:pred>, "
               "texel:tensor",
               "[4.3] tld4.comp:r|g|b|a.geom:2d|a2d|cube|acube.v4.dtype:u32|s32|f32.f32 "
               "=d:dtype+^4<p:;|=_p:pred>, texel:tensor, compare:f32",
               "[4.3] tld4.comp:r|g|b|a.geom:2d|a2d.v4.dtype:u32|s32|f32.f32 =d:dtype+^4<p:;|=_p:pred>, "
               "texel:tensor, offset:s32^*",
               "[4.3] tld4.comp:r|g|b|a.geom:cube|acube.v4.dtype:u32|s32|f32.f32 =d:dtype+^4<p:;|=_p:pred>, "
               "texel:tensor"}),
          timing, tex},
      OpDef{
          "txq",
          "Asks for a property of a texture or sampler. Texture Instructions: txq.",
          {"[1.5] txq.query:width|height|depth|channel_data_type|channel_order|normalized_coords|filter_mode|"
           "addr_mode_0|addr_mode_1|addr_mode_2.b32 =d:b32, a:mem",
           "[2.2] txq.query:force_unnormalized_coords.b32 =d:b32, a:mem",
           "[4.1 sm_30] txq.query:array_size|num_mipmap_levels.b32 =d:b32, a:mem",
           "[4.2 sm_30] txq.query:num_samples.b32 =d:b32, a:mem",
           "[4.3 sm_30] txq.level.query:width|height|depth.b32 =d:b32, a:mem, lod:b32"},
          timing,
          query},
  };
}

std::vector<OpDef> surface_defs() {
  return {
      OpDef{"suld",
            "Loads from a surface; x counts bytes. Surface Instructions: suld.",
            {"[1.5] suld.b.geom:1d|2d|3d|a1d|a2d{.cop:ca|cg|cs|cv}{.vec:v2}.type:b8|b16|b32|b64.clamp:trap|"
             "clamp|zero =d:type+^vec, texel:tensor",
             "[1.5] suld.b.geom:1d|2d|3d|a1d|a2d{.cop:ca|cg|cs|cv}.vec:v4.type:b8|b16|b32.clamp:trap|clamp|"
             "zero =d:type+^vec, texel:tensor"},
            timing,
            surface},
      OpDef{"sust",
            "Stores to a surface; x counts bytes (.b) or texels, of the surface's format (.p). Surface "
            "Instructions: sust.",
            {"[1.5] sust.unit:p.geom:1d|2d|3d{.vec:v2|v4}.type:b32.clamp:trap|clamp|zero texel:tensor, "
             "b:type+^vec",
             "[1.5] sust.b.geom:1d|2d|3d|a1d|a2d{.cop:wb|cg|cs|wt}{.vec:v2}.type:b8|b16|b32|b64.clamp:trap|"
             "clamp|zero texel:tensor, b:type+^vec",
             "[1.5] sust.b.geom:1d|2d|3d|a1d|a2d{.cop:wb|cg|cs|wt}.vec:v4.type:b8|b16|b32.clamp:trap|clamp|"
             "zero texel:tensor, b:type+^vec"},
            timing,
            surface},
      OpDef{"sured",
            "Reduces into a surface; x counts bytes (.b) or texels (.p). Surface Instructions: sured.",
            {"[3.0] sured.unit:b.op:add|min|max.geom:1d|2d|3d.type:u32|s32.clamp:trap|clamp|zero "
             "texel:tensor, b:type",
             "[3.0] sured.unit:b.op:add.geom:1d|2d|3d.type:u64.clamp:trap|clamp|zero texel:tensor, b:type",
             "[3.0] sured.unit:b.op:min|max.geom:1d|2d|3d.type:u64|s64.clamp:trap|clamp|zero "
             "texel:tensor, b:type",
             "[3.0] sured.unit:b|p.op:and|or.geom:1d|2d|3d.type:b32.clamp:trap|clamp|zero "
             "texel:tensor, b:type"},
            timing,
            surface},
      OpDef{"suq",
            "Asks for a property of a surface. Surface Instructions: suq.",
            {"[1.5] suq.query:width|height|depth|channel_data_type|channel_order.b32 =d:b32, a:mem",
             "[4.1 sm_30] suq.query:array_size.b32 =d:b32, a:mem",
             "[4.2 sm_30] suq.query:memory_layout.b32 =d:b32, a:mem"},
            timing,
            query},
      OpDef{"istypep",
            "Whether a value points to an opaque type. Texture Instructions: istypep.",
            {"[4.0 sm_30] istypep.type:texref|samplerref|surfref =p:pred, a:b64"},
            timing,
            query},
  };
}

}  // namespace

std::vector<OpDef> textures() { return joined({texture_defs(), surface_defs()}); }

}  // namespace palladion::isa::ops
