#pragma once
// Bodies of functions: statements, labels, and the lists that instructions name.
#include "isa/text/parse_declarations.h"
#include "isa/text/parse_instructions.h"

namespace palladion::isa::detail {

// name: .branchtargets, .calltargets, .callprototype
class TargetLists {
 public:
  TargetLists(Tokens& in, Constants& numbers, NameTable& names, Declarations& declarations)
      : in_(in), numbers_(numbers), names_(names), declarations_(declarations) {}

  bool read(const Token& name);  // behind the `:`; false when none of them stands there

 private:
  void branch_targets(const Token& name);
  void call_targets(const Token& name);
  void call_prototype(const Token& name);
  bool prototype_parameters(std::vector<Variable>& list);
  void keep(const Token& name, CallTargets targets);

  Tokens& in_;
  Constants& numbers_;
  NameTable& names_;
  Declarations& declarations_;
};

class Bodies {
 public:
  Bodies(Tokens& in, NameTable& names, SourceLines& lines, Declarations& declarations,
         Instructions& instructions, TargetLists& lists)
      : in_(in),
        names_(names),
        lines_(lines),
        declarations_(declarations),
        instructions_(instructions),
        lists_(lists) {}

  void body(Function& f);  // from its `{` on

 private:
  void statement();
  void body_directive();
  void label_definition();

  Tokens& in_;
  NameTable& names_;
  SourceLines& lines_;
  Declarations& declarations_;
  Instructions& instructions_;
  TargetLists& lists_;
};

}  // namespace palladion::isa::detail
