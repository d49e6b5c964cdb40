#pragma once
// Variables, parameters and registers.
#include "isa/text/parse_initialisers.h"
#include "isa/text/parse_names.h"
#include "isa/text/parse_numbers.h"
#include "isa/text/parse_old.h"

namespace palladion::isa::detail {

class Declarations {
 public:
  Declarations(Module& module, Tokens& in, Constants& numbers, const Dialect& dialect, NameTable& names,
               Initialisers& initialisers)
      : module_(module),
        in_(in),
        numbers_(numbers),
        dialect_(dialect),
        names_(names),
        initialisers_(initialisers) {}

  // Behind the word of the state space, up to the end of the statement.
  void variables(Space space, Linkage linkage);
  void registers();
  void module_registers();
  void old_textures(Linkage linkage);

  // The parts of one declaration: type and attributes; then, behind the name, dimensions.
  struct Declarator {
    Variable variable;
    bool ok = false;
    bool has_type = false;
  };
  Declarator declarator(Space space);
  bool dimensions(Variable& v);

 private:
  bool declarator_directive(Declarator& d);
  bool alignment(uint32_t& into);
  bool pointer_attributes(Variable& v);
  bool skip_attributes(Variable& v);
  bool type_directive(Declarator& d);
  void declare_variables(const Variable& declared_as, Linkage linkage);
  void declare_variable(const Token& name, Variable v, Linkage linkage);
  std::optional<uint64_t> register_count();
  void declare_registers(const Token& name, Type type);
  void declare_vector(const Token& name, Type type, uint32_t elements);

  Module& module_;
  Tokens& in_;
  Constants& numbers_;
  const Dialect& dialect_;
  NameTable& names_;
  Initialisers& initialisers_;
};

}  // namespace palladion::isa::detail
