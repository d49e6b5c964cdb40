#include "isa/text/parse_bodies.h"

#include <fmt/format.h>

namespace palladion::isa::detail {

void Bodies::body(Function& f) {
  names_.open_body(f);
  in_.next();
  while (!in_.token().is(Token::Kind::end) && !in_.too_many_errors()) {
    if (in_.token().is('}')) {
      if (!names_.in_block()) break;
      names_.close_block();
      in_.next();
    } else {
      statement();
    }
  }
  if (!in_.token().is('}') && !in_.too_many_errors())
    in_.error(in_.token(), ParseCode::syntax, fmt::format("the body of `{}` has no end", f.name));
  in_.accept('}');
  names_.close_body();
}

void Bodies::statement() {
  if (in_.token().is(Token::Kind::directive)) return body_directive();
  if (in_.accept(';')) return;
  if (in_.token().is('{')) {
    if (names_.depth() > 200) {
      in_.error(in_.token(), ParseCode::syntax, "blocks are nested too deeply");
    } else {
      names_.open_block();
    }
    return in_.next();
  }
  if (in_.token().is('@')) return instructions_.instruction();
  if (!in_.token().is(Token::Kind::word)) {
    in_.error_expected("an instruction");
    in_.next();
    return in_.skip_statement();
  }
  in_.extend_mnemonic();
  if (in_.label_follows()) return label_definition();
  instructions_.instruction();
}

void Bodies::body_directive() {
  while (in_.token().is_directive("extern") || in_.token().is_directive("visible")) in_.next();
  if (!in_.token().is(Token::Kind::directive)) {
    in_.error(in_.token(), ParseCode::syntax, "expected a directive");
    return in_.skip_statement();
  }
  if (in_.accept_directive("reg")) return declarations_.registers();
  if (in_.accept_directive("loc")) return lines_.loc();
  if (in_.accept_directive("local")) return declarations_.variables(Space::local, Linkage::none);
  if (in_.accept_directive("shared")) return declarations_.variables(Space::shared_cta, Linkage::none);
  if (in_.accept_directive("global")) return declarations_.variables(Space::global, Linkage::none);
  if (in_.accept_directive("const")) return declarations_.variables(Space::const_, Linkage::none);
  if (in_.accept_directive("param")) return declarations_.variables(Space::param, Linkage::none);
  if (in_.accept_directive("pragma")) {
    names_.function().body_pragmas.push_back(
        {in_.strings(), static_cast<uint32_t>(names_.function().body.size())});
    return;
  }
  if (in_.accept_directive("file")) return lines_.file();
  Nearest nearest(in_.token().text.substr(1));
  for (const auto word : {"reg", "loc", "local", "shared", "global", "const", "param", "pragma"})
    nearest.offer(word);
  in_.error(in_.token(), ParseCode::directive,
            fmt::format("`{}` is no directive of a body", in_.token().text.substr(0, 60)), nearest.help());
  in_.next();
  in_.skip_statement();
}

void Bodies::label_definition() {
  const Token name = in_.token();
  in_.next();
  in_.next();  // ':'
  if (lists_.read(name)) return;
  if (name.text.find('.') != std::string_view::npos)
    return in_.error(name, ParseCode::syntax, fmt::format("`{}` is no label", name.text));
  Label& label = names_.function().labels[names_.reference_label(name)];
  if (label.target != no_id)
    return in_.error(name, ParseCode::redefined, fmt::format("label `{}` stands twice", name.text));
  label.target = static_cast<uint32_t>(names_.function().body.size());
}

}  // namespace palladion::isa::detail
