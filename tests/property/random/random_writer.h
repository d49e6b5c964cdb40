#pragma once
// Writes the steps of one program: chooses registers, keeps book of what each step reads and writes.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "isa/core/types.h"
#include "tests/property/random/random_program.h"

namespace palladion::random_program {

struct Pool {
  char name;
  int constant, all;  // the first `constant` registers keep their input values
};
inline constexpr Pool pools[] = {{'h', 8, 16}, {'r', 16, 32}, {'d', 8, 16}, {'f', 8, 16}, {'p', 3, 8}};
const Pool& pool(char name);

inline constexpr Flavor factor_flavors[] = {Flavor::integer, Flavor::f16,  Flavor::bf16, Flavor::f32,
                                            Flavor::tf32,    Flavor::e4m3, Flavor::e5m2, Flavor::f64};
inline constexpr int factors_a_flavor = 6;  // 8-byte values a thread

Flavor flavor_of(isa::Type type);
char pool_of(isa::Type type, int width_factor = 1);

class Writer {
 public:
  Writer(const Catalogue& catalogue, uint64_t seed);
  Program finish();

  // --- for the kinds of steps -------------------------------------------------------------------
  Rng& rng() { return rng_; }
  const Catalogue& catalogue() const { return catalogue_; }
  uint64_t scalar_number() { return scalar_number_++; }
  uint64_t product_number() { return product_number_++; }
  int label() { return labels_++; }

  void begin(Reach reach);
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    add_line(fmt::format(format, std::forward<Args>(args)...));
  }
  Reg source(char pool, Flavor flavor);   // read by this step; one that it has not read yet, if there is
  Reg target(char pool, Flavor flavor);   // written by it: its values are stored at its end
  Reg updated(char pool, Flavor flavor);  // read and written
  // Stores a register of `bytes` that is none of the pools'.
  void trace(const std::string& name, Reg as, int bytes);
  void end();

  size_t reserve(size_t bytes_a_thread, size_t align);  // of the output; its offset
  std::string factor(Flavor flavor, int bytes);         // "[%in8+1234]": a value for a product
  // Within: every step may be skipped by a lane, so what it writes keeps its old value.
  void enter_region(Reg guard) { region_ = guard; }
  void leave_region() { region_.reset(); }
  bool in_region() const { return region_.has_value(); }
  // After its results are stored, the step reads them back: ptxas then knows nothing about them.
  void reload_results() { reloads_ = true; }
  // "@%p3 " for this step, or nothing.
  std::string maybe_guard();

 private:
  void add_line(const std::string& text);
  void store(const std::string& name, char pool_name, size_t offset);
  void reload(const Reg& r, size_t offset);
  void load_inputs();
  void fill_inputs();

  const Catalogue& catalogue_;
  Rng rng_;
  Program program_;
  std::string body_;
  Step step_;
  std::vector<Reg> targets_;
  std::optional<Reg> region_;
  bool reloads_ = false;
  std::array<std::array<Flavor, 32>, 5> flavors_{};
  uint64_t scalar_number_ = 0, product_number_ = 0;
  int labels_ = 0;
};

// One instruction of the catalogue.
void scalar_step(Writer& w);
// mma.sync of the catalogue.
void product_step(Writer& w);
// Kinds that the catalogue does not have.
void move_step(Writer& w);
void warp_step(Writer& w);
void shared_step(Writer& w);
void matrix_memory_step(Writer& w);
void own_atomic_step(Writer& w);
void common_atomic_step(Writer& w);
void loop_step(Writer& w);

}  // namespace palladion::random_program
