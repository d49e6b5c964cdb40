#pragma once
// Initial values of variables (PTX, "Initializers").
#include <vector>

#include "isa/formats/sampler.h"
#include "isa/text/parse_names.h"
#include "isa/text/parse_numbers.h"

namespace palladion::isa::detail {

class Initialisers {
 public:
  Initialisers(Module& module, Tokens& in, Constants& numbers, NameTable& names)
      : module_(module), in_(in), numbers_(numbers), names_(names) {}

  // Behind the `=`. False: the statement goes on with something else.
  bool read(Variable& v, const Token& name);
  void begin_variable() { new_addresses_.clear(); }
  void end_variable(SymbolId id);  // the addresses read since are the initial values of this one
  void finish();                   // all names are declared

 private:
  void initialiser(Variable& v, const Token& name);
  bool opaque_initialiser(Variable& v);
  bool opaque_field(Type type, Sampler& sampler);
  bool initialiser_level(Variable& v, size_t dim, uint64_t& at, int depth);
  bool initialiser_value(Variable& v, uint64_t at);
  bool initialiser_string(Variable& v, uint64_t& at);
  bool initialiser_address(Variable& v, uint64_t at, uint64_t mask);

  struct PendingAddress {
    SymbolId variable;
    size_t relocation;
    Token name;
  };

  Module& module_;
  Tokens& in_;
  Constants& numbers_;
  NameTable& names_;
  std::vector<PendingAddress> pending_addresses_;
  std::vector<PendingAddress> new_addresses_;  // of the variable being read
};

}  // namespace palladion::isa::detail
