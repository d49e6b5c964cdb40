#pragma once
// The PTX of a microbenchmark, put together from parts. Every kernel has the same four parameters
// (out, n, data, map) and the same frame: each warp that is timed reads %clock64, goes n times through a
// body that is long enough for the loop not to matter, reads %clock64 again and writes both to `out`.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace palladion::bench {

// `text` with every "<key>" replaced; a "<" that begins no key stays (register declarations).
std::string fill(std::string text, std::initializer_list<std::pair<std::string, std::string>> values);
// `text` with <i> = 0 .. count-1, in this order.
std::string repeat(const std::string& text, int count);

// What some neighbouring warps of each CTA do.
struct Part {
  int first_warp = 0, warps = 1;
  std::string before;            // not timed
  std::string body;              // `n` times
  std::string drain;             // timed, after the last iteration
  std::string after;             // not timed
  std::vector<std::string> use;  // 32-bit registers whose values must not be optimised away
  bool timed = true;
  // In the background of part 0: not `n` times, but until a warp of part 0 has ended; %e0 counts.
  bool background = false;
};

struct KernelText {
  std::string directives;    // of the entry
  std::string declarations;  // registers of its own
  std::string prologue;      // all warps, before the barrier after which they start together
  std::vector<Part> parts;
  bool chip_wide = false;  // all CTAs of the grid start together (each must be resident)
  bool clusters = false;   // all CTAs of a cluster start and leave together
};

// Registers of the frame: %out, %data, %map, %samples (b64); %n, %s (shared window), %me, %lane, %warp, %cta,
// %i (b32); %e0, %e1 (b64, extras of the stamp); %x, %c (b32), %f, %g (f32), %q, %k (b64), %h (b16), %d, %m
// (f64), %p (pred). %c, %g, %k and %m hold random values.
std::string text(const KernelText& kernel);

// In a kernel with parts in the background, which they look at after each iteration: it stands in shared
// memory.
inline constexpr int stop_flag = 768;

// What each timed warp writes, at `stamps_offset` + stamp_bytes * (warp of the grid).
struct Stamp {
  uint64_t start, end;            // %clock64
  uint64_t sink;                  // of no meaning
  uint64_t smid;                  // 32 bits
  uint64_t start_time, end_time;  // %globaltimer, ns
  uint64_t extra0, extra1;
};
inline constexpr int stamps_offset = 256;  // before it: the counter at which CTAs of a grid meet

}  // namespace palladion::bench
