#pragma once
// Modules to mutate.
#include <gtest/gtest.h>

#include "isa/arch/arch.h"
#include "isa/text/parse.h"

namespace palladion::sim::check {

inline const isa::ArchSpec& h200 = isa::default_arch();

inline std::string ptx(const std::string& body) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n" + body;
}

inline isa::Module parsed(const std::string& text) {
  auto module = isa::parse(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : isa::render(module.error(), text));
  return std::move(*module);
}

}  // namespace palladion::sim::check
