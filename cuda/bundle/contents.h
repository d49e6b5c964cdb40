#pragma once
// The bytes of a buffer or of an array at one time.
#include <cstdint>
#include <string>

namespace palladion::cuda::bundle {

struct Contents {
  enum class Kind : uint8_t {
    none,      // not recorded: the program ended before, or they were stripped
    same,      // `after` alone: as before
    file,      // in the file `file`
    repeated,  // `value`, 64 bits little endian, again and again
    seed,      // normally distributed f32 of this seed; stands for stripped contents
  };
  Kind kind = Kind::none;
  std::string file;
  uint64_t value = 0;       // repeated, seed
  uint64_t checksum = 0;    // of the contents in the file
  uint64_t compressed = 0;  // bytes of the file, a zstd frame; 0: the file is the contents
};

}  // namespace palladion::cuda::bundle
