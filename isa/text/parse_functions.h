#pragma once
// Functions: headers and performance directives.
#include <optional>
#include <vector>

#include "isa/text/parse_bodies.h"

namespace palladion::isa::detail {

// Whether a declaration of the module begins here.
bool at_module_item(const Token& token);
// The nearest word with which one may begin is offered.
void offer_module_items(Nearest& nearest);

class Functions {
 public:
  Functions(Module& module, Tokens& in, Constants& numbers, NameTable& names, SourceLines& lines,
            Declarations& declarations, Bodies& bodies)
      : module_(module),
        in_(in),
        numbers_(numbers),
        names_(names),
        lines_(lines),
        declarations_(declarations),
        bodies_(bodies) {}

  void function(Linkage linkage, bool entry);  // behind `.entry` or `.func`

 private:
  void skip_attributes();
  Function& begin_function(const Token& name, Linkage linkage, bool entry);
  bool parameters(std::vector<SymbolId>& list, Function& f);
  bool parameter(std::vector<SymbolId>& list, Function& f);
  bool function_directive(Function& f);
  std::optional<Dim3> dim3();

  Module& module_;
  Tokens& in_;
  Constants& numbers_;
  NameTable& names_;
  SourceLines& lines_;
  Declarations& declarations_;
  Bodies& bodies_;
};

}  // namespace palladion::isa::detail
