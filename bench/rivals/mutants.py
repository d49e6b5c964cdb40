"""Breaks one synchronising instruction of a PTX text: a Mutant is an edited text, and says what was done where."""

import dataclasses
import re

# What orders threads or operations; a delete of one is a mutant.
SYNCHRONISES = re.compile(
    r"mbarrier\.(?!try_wait|test_wait)|fence\.|membar|bar(rier)?\.|cp\.async\.(bulk\.)?(commit|wait)_group|"
    r"cp\.async\.wait_all|cp\.async\.mbarrier|tcgen05\.(wait|commit|fence|dealloc|alloc|relinquish)|clusterlaunchcontrol\."
)
WAITS = re.compile(r"mbarrier\.(try|test)_wait\S*\s+([%\w]+)\s*,\s*(\[[^\]]*\])\s*,\s*([%\w]+)")
# What touches memory; an instruction that synchronises and moves past one no longer orders it.
TOUCHES = re.compile(
    r"(ld|st|atom|red)\.(?!param|local|const)|tcgen05\.(ld|st|mma|cp)|cp\.|mbarrier\.|wgmma|tensormap\."
)
INSTRUCTION = re.compile(r"^(\s*)(@!?[%\w]+\s+)?([a-z][\w.:]*)(\s[^;]*)?;")
DECLARATIONS = "\t.reg .b32 %mutant_word;\n\t.reg .pred %mutant_test;"


@dataclasses.dataclass
class Mutant:
    operator: str
    line: int  # of the original, from 1
    text: str  # the instruction
    ptx: str


def mutants(ptx):
    """All mutants of the text, in the order of its lines; no two are equal."""
    lines = ptx.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.strip() == "{" or line.rstrip().endswith("{"))
    found, texts = [], set()

    def add(operator, at, *replacement, until=None):
        edited = lines[:at] + list(replacement) + lines[(until or at) + 1 :]
        edited.insert(begin + 1, DECLARATIONS)
        text = "\n".join(edited) + "\n"
        if text not in texts:  # `a` moved behind `b` is `b` moved before `a`
            texts.add(text)
            found.append(Mutant(operator, at + 1, lines[at].strip(), text))

    for at, line in enumerate(lines):
        match = INSTRUCTION.match(line)
        if match:
            change(add, lines, at, line, match)
    return found


def change(add, lines, at, line, match):
    indent, guard, opcode, operands = match.group(1), match.group(2) or "", match.group(3), match.group(4) or ""
    wait = WAITS.search(line)
    if wait:
        change_wait(add, at, line, indent, wait)
    elif SYNCHRONISES.match(opcode):
        add(f"delete {kind(opcode)}", at, "")
        move(add, lines, at, line, opcode)
        numbers(add, at, line, opcode, operands)
    if guard and (SYNCHRONISES.match(opcode) or opcode.startswith(("cp.async.bulk", "tcgen05.mma", "tcgen05.cp"))):
        if not opcode.endswith("aligned") and "aligned" not in opcode:
            add("drop the guard", at, line.replace(guard, "", 1))
    if opcode.startswith("cp.async.bulk.tensor") or opcode.startswith("tcgen05.commit"):
        barrier = list(re.finditer(r"\[([%\w]+)(\s*\+\s*(\d+))?\]", line))
        if barrier and "mbarrier" in opcode:
            b = barrier[-1]
            other = f"[{b.group(1)}+{int(b.group(3) or 0) + 8}]"
            add("another mbarrier", at, line[: b.start()] + other + line[b.end() :])
    if opcode.startswith("cp.async.bulk.tensor") and "shared" in opcode.split("global")[0]:
        b = re.search(r"\[([%\w]+)(\s*\+\s*(\d+))?\]", line)
        add("another slot", at, line[: b.start()] + f"[{b.group(1)}+{int(b.group(3) or 0) + 1024}]" + line[b.end() :])
    if opcode.startswith("tcgen05.mma"):
        add("delete tcgen05.mma", at, "")


def change_wait(add, at, line, indent, wait):
    test, address, parity = wait.group(2), wait.group(3), wait.group(4)
    add("delete wait", at, f"{indent}setp.eq.u32 {test}, 0, 0;" + line[line.index(";") + 1 :])
    flip = f"{indent}xor.b32 %mutant_word, {parity}, 1;"
    changed = line[: wait.start(4)] + "%mutant_word" + line[wait.end(4) :]
    add("parity flipped", at, flip, changed)
    inner = address[1:-1].replace(" ", "")
    base, _, offset = inner.partition("+")
    other = f"[{base}+{int(offset or 0) + 8}]"
    add("wait at another mbarrier", at, line.replace(address, other, 1))


def kind(opcode):
    """delete mbarrier.arrive.expect_tx.shared::cta.b64 -> mbarrier.arrive.expect_tx"""
    words = opcode.split(".")
    known = {
        "mbarrier",
        "init",
        "inval",
        "arrive",
        "expect_tx",
        "complete_tx",
        "fence",
        "proxy",
        "bar",
        "barrier",
        "warp",
        "sync",
        "cluster",
        "wait",
        "cp",
        "async",
        "bulk",
        "commit_group",
        "wait_group",
        "tcgen05",
        "commit",
        "dealloc",
        "alloc",
        "relinquish_alloc_permit",
        "mbarrier_init",
        "cta",
        "wait::ld",
        "wait::st",
        "fence::before_thread_sync",
        "fence::after_thread_sync",
        "wait_all",
        "membar",
        "noinc",
    }
    kept = []
    for word in words:
        if word not in known:
            break
        kept.append(word)
    return ".".join(kept)


def move(add, lines, at, line, opcode):
    """Moves the instruction behind, and before, the nearest instruction that touches memory, within its block."""
    for name, step in (("move down", 1), ("move up", -1)):
        other = at + step
        while 0 <= other < len(lines):
            match = INSTRUCTION.match(lines[other])
            text = lines[other].strip()
            if text.endswith(":") or (match and re.match(r"bra|ret|exit", match.group(3))) or text in ("{", "}"):
                break
            if match and TOUCHES.match(match.group(3)):
                low, high = min(at, other), max(at, other)
                between = lines[low + 1 : high]
                changed = between + [lines[high], lines[low]] if step == 1 else [lines[high], lines[low]] + between
                add(f"{name} {kind(opcode)}", low, *changed, until=high)
                break
            other += step


def numbers(add, at, line, opcode, operands):
    def number(operator, pattern, values):
        match = re.search(pattern, line)
        if not match:
            return
        old = int(match.group(1), 0)
        for value in values(old):
            if value >= 0 and value != old:
                add(f"{operator} {value - old:+d}", at, line[: match.start(1)] + str(value) + line[match.end(1) :])

    if opcode.startswith("mbarrier.init"):
        number("init count", r",\s*(\w+)\s*;", lambda n: (n + 1, n - 1) if n > 1 else (n + 1,))
    if "expect_tx" in opcode:
        number("bytes", r",\s*(\d+)\s*;", lambda n: (n + 16, n - 16))
        match = re.search(r",\s*\d+\s*;", line)
        if opcode.startswith("mbarrier.arrive.expect_tx") and match:
            add("forget expect_tx", at, line.replace(".expect_tx", "", 1).replace(match.group(), ";", 1))
    if "wait_group" in opcode:
        number("wait_group", r"\s(\d+)\s*;", lambda n: (n + 1,))
        if "bulk" in opcode and ".read" not in opcode:
            add("wait_group.read", at, line.replace("wait_group", "wait_group.read", 1))
    if re.match(r"bar(rier)?\.(cta\.)?sync", opcode):
        number("bar id", r"sync(?:\.aligned)?\s+(\d+)", lambda n: (n + 1,))
        number("bar threads", r"sync(?:\.aligned)?\s+\d+\s*,\s*(\d+)", lambda n: (n + 32, n - 32))
    if opcode.startswith(("mbarrier.arrive", "tcgen05.commit")):
        add(f"twice {kind(opcode)}", at, line, line)
