// Registers granted to warps, dependent grids, the local stack; and what is recognised but unsupported:
// textures, surfaces (PTX, "Miscellaneous Instructions", "Parallel Synchronization and Communication
// Instructions", "Stack Manipulation Instructions", "Texture Instructions", "Surface Instructions").
#include <fmt/format.h>

#include "isa/ops/decode.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint SetMaxRegisters::footprint() const {
  return {.participants = Participants::warpgroup,
          .sync = {.object = Sync::Object::registers, .arrives = !increase, .waits = increase}};
}

Footprint GridDependency::footprint() const {
  return {.sync = {.object = Sync::Object::grid, .arrives = !wait, .waits = wait}};
}

// The stack's place and the addresses on it are the thread's own.
Footprint Stack::footprint() const { return {.control = {value}}; }

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

constexpr Timing stack_timing{Unit::alu, "stack"};
constexpr Timing texture_timing{Unit::lsu, "texture"};

Effect setmaxnreg(const Instruction& i, const DecodeContext& context) {
  const int count = decode::immediate(i, "count");
  if (!setmaxnreg_takes(context.arch, count))
    return decode::unsupported(i, fmt::format("the register count is a multiple of {} from {} to {}",
                                              context.arch.register_unit_per_thread,
                                              context.arch.min_setmaxnreg, context.arch.max_setmaxnreg));
  return SetMaxRegisters{.increase = i.mod("action") == "inc", .count = count};
}

Effect griddepcontrol(const Instruction& i, const DecodeContext&) {
  return GridDependency{.wait = i.mod("action") == "wait"};
}

Effect stack_alloca(const Instruction& i, const DecodeContext&) {
  Stack e{.action = StackAction::allocate, .dst = decode::index(i, "d"), .value = decode::index(i, "size")};
  if (i.operand("align") != nullptr) e.align = static_cast<uint32_t>(decode::immediate(i, "align"));
  if (e.align == 0 || (e.align & (e.align - 1)) != 0)
    return decode::unsupported(i, "the alignment is no power of two");
  return e;
}
Effect stacksave(const Instruction& i, const DecodeContext&) {
  return Stack{.action = StackAction::save, .dst = decode::index(i, "d")};
}
Effect stackrestore(const Instruction& i, const DecodeContext&) {
  return Stack{.action = StackAction::restore, .value = decode::index(i, "a")};
}

Effect texture(const Instruction& i, const DecodeContext&) {
  return decode::unsupported(i, "textures and surfaces are not modelled");
}

std::vector<OpDef> machine_defs() {
  return {
      OpDef{"setmaxnreg",
            "Takes more registers from the CTA's pool for each thread of the warpgroup, waiting for them, or "
            "gives some "
            "back. Miscellaneous Instructions: setmaxnreg.",
            {"[8.0 sm_90a|sm_100f|sm_110f|sm_120f] setmaxnreg.action:inc|dec.sync.aligned.u32 "
             "count:imm[24..256/8]"},
            Timing{Unit::sync, "setmaxnreg"},
            setmaxnreg},
      OpDef{"griddepcontrol",
            "Lets dependent grids start, or waits for the grids that this one depends on. Parallel "
            "Synchronization and "
            "Communication Instructions: griddepcontrol.",
            {"[7.8 sm_90] griddepcontrol.action:launch_dependents|wait"},
            Timing{Unit::sync, "griddepcontrol"},
            griddepcontrol},
      OpDef{"alloca",
            "Takes local memory from the thread's stack. Stack Manipulation Instructions: alloca.",
            {"[7.3 sm_52] alloca.type:u32|u64 =d:type, size:type, align?:imm"},
            stack_timing,
            stack_alloca},
      OpDef{"stacksave",
            "Reads the stack pointer. Stack Manipulation Instructions: stacksave.",
            {"[7.3 sm_52] stacksave.type:u32|u64 =d:type"},
            stack_timing,
            stacksave},
      OpDef{"stackrestore",
            "Sets the stack pointer. Stack Manipulation Instructions: stackrestore.",
            {"[7.3 sm_52] stackrestore.type:u32|u64 a:type"},
            stack_timing,
            stackrestore},
  };
}

// `texel` operands are [texture, {coordinates}]; forms with a separate sampler are not stated.
std::vector<OpDef> texture_defs() {
  return {
      OpDef{"tex",
            "Looks up a texture. Texture Instructions: tex.",
            {"tex.geom:1d|a1d|2d|a2d|3d.v4.dtype:u32|s32|f32.ctype:s32|f32 =d:dtype+^4, texel:tensor",
             "tex.geom:cube|acube.v4.dtype:u32|s32|f32.ctype:f32 =d:dtype+^4, texel:tensor",
             "tex.level.geom:1d|a1d|2d|a2d|3d.v4.dtype:u32|s32|f32.ctype:f32 =d:dtype+^4, texel:tensor, "
             "lod:f32"},
            texture_timing,
            texture},
      OpDef{"tld4",
            "Gathers one component of four texels. Texture Instructions: tld4.",
            {"[2.2 sm_20] tld4.comp:r|g|b|a.geom:2d.v4.dtype:u32|s32|f32.f32 =d:dtype^4, texel:tensor"},
            texture_timing,
            texture},
      OpDef{"txq",
            "Asks for a property of a texture or sampler. Texture Instructions: txq.",
            {"[1.5] txq.query:width|height|depth|channel_data_type|channel_order|normalized_coords.b32 "
             "=d:b32, a:mem"},
            texture_timing,
            texture},
      OpDef{
          "suld",
          "Loads from a surface. Surface Instructions: suld.",
          {"[1.5] suld.b.geom:1d|2d|3d|a1d|a2d{.cop:ca|cg|cs|cv}.type:b8|b16|b32|b64.clamp:trap|clamp|zero "
           "=d:type+, "
           "texel:tensor",
           "[1.5] "
           "suld.b.geom:1d|2d|3d|a1d|a2d{.cop:ca|cg|cs|cv}.vec:v2.type:b8|b16|b32|b64.clamp:trap|clamp|zero "
           "=d:type+^vec, texel:tensor",
           "[1.5] "
           "suld.b.geom:1d|2d|3d|a1d|a2d{.cop:ca|cg|cs|cv}.vec:v4.type:b8|b16|b32.clamp:trap|clamp|zero "
           "=d:type+^vec, "
           "texel:tensor"},
          texture_timing,
          texture},
      OpDef{
          "sust",
          "Stores to a surface. Surface Instructions: sust.",
          {"[1.5] sust.b.geom:1d|2d|3d|a1d|a2d{.cop:wb|cg|cs|wt}.type:b8|b16|b32|b64.clamp:trap|clamp|zero "
           "texel:tensor, "
           "b:type+",
           "[1.5] "
           "sust.b.geom:1d|2d|3d|a1d|a2d{.cop:wb|cg|cs|wt}.vec:v2.type:b8|b16|b32|b64.clamp:trap|clamp|zero "
           "texel:tensor, b:type+^vec",
           "[1.5] "
           "sust.b.geom:1d|2d|3d|a1d|a2d{.cop:wb|cg|cs|wt}.vec:v4.type:b8|b16|b32.clamp:trap|clamp|zero "
           "texel:tensor, "
           "b:type+^vec"},
          texture_timing,
          texture},
      OpDef{
          "sured",
          "Reduces into a surface. Surface Instructions: sured.",
          {"[3.0 sm_20] sured.b.op:add|min|max.geom:1d|2d|3d.type:u32|s32.clamp:trap|clamp|zero "
           "texel:tensor, b:type",
           "[3.0 sm_20] sured.b.op:and|or.geom:1d|2d|3d.type:b32.clamp:trap|clamp|zero texel:tensor, b:type"},
          texture_timing,
          texture},
      OpDef{"suq",
            "Asks for a property of a surface. Surface Instructions: suq.",
            {"[1.5] suq.query:width|height|depth|channel_data_type|channel_order.b32 =d:b32, a:mem"},
            texture_timing,
            texture},
      OpDef{"istypep",
            "Whether a value points to an opaque type. Texture Instructions: istypep.",
            {"[4.0 sm_30] istypep.type:texref|samplerref|surfref =p:pred, a:b64"},
            texture_timing,
            texture},
  };
}

}  // namespace

std::vector<OpDef> system() { return joined({machine_defs(), texture_defs()}); }

}  // namespace palladion::isa::ops
