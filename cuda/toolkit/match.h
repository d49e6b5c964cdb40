// The PTX of a bundle that has a cubin only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cuda/bundle/bundle.h"

namespace palladion::cuda::toolkit {

struct Match {
  std::string ptx;      // empty: none
  std::string source;   // how it was found
  std::string why_not;  // a sentence, when none
};

// Looks through the folders and what is below them, then into the cubin itself.
Match match_ptx(const std::string& cubin, const std::string& entry,
                const std::vector<std::filesystem::path>& folders);

// The same of PTX that machine code carried, which has lost its comments and some of its .loc: a file with
// that text.
Match match_text(const std::string& carried, const std::string& entry,
                 const std::vector<std::filesystem::path>& folders);

// Where programs that compile at run time keep their PTX: Triton's cache, XLA's and Mosaic's dumps.
std::vector<std::filesystem::path> dump_folders();

}  // namespace palladion::cuda::toolkit
