"""What a run, a check or a comparison found, as objects."""
from __future__ import annotations

import dataclasses
import html
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._errors import FindingsError


@dataclasses.dataclass(frozen=True)
class Site:
    """One side of a finding: which lanes did what, and where."""

    what: str
    """"reads", "writes (earlier)" """
    file: str
    """the author's, else the PTX's, empty where it is not known"""
    line: int
    """from 1; 0: unknown"""
    ptx_line: int
    instruction: str
    cta: Tuple[int, int, int]
    warp: int
    lanes: int
    """bit i: lane i"""
    role: str
    asynchronous: bool
    functions: Tuple[str, ...]
    """that were inlined there, innermost first"""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A mistake, or what could not be decided."""

    code: str
    """`PLD6001`: `palladion explain` says more"""
    severity: str
    """error, strict (only the letter of PTX is broken), unknown or unsupported"""
    message: str
    kernel: str
    object: str
    """which array, barrier, register it is about"""
    sites: Tuple[Site, ...]
    missing: str
    help: str
    rule: str
    count: int
    schedules: Tuple[str, ...]
    fatal: bool
    text: str
    """all of it, with the source lines, as the program prints it"""
    fingerprint: str
    """16 hexadecimal digits that do not change when lines move"""

    @property
    def file(self) -> str:
        """Of the first site."""
        return self.sites[0].file if self.sites else ""

    @property
    def line(self) -> int:
        """Of the first site, from 1; 0: unknown."""
        return self.sites[0].line if self.sites else 0

    def __str__(self) -> str:
        return self.text or f"{self.severity}[{self.code}]: {self.message}"


def _site(site: Dict[str, Any], ptx: str) -> Site:
    source = site.get("source") or {"file": ptx if site["ptx_line"] else "", "line": site["ptx_line"]}
    functions = tuple(f["function"]["name"] for f in site.get("frames", ()) if "function" in f)
    return Site(site["what"], source["file"], source["line"], site["ptx_line"], site["instruction"],
                tuple(site["cta"]), site["warp"], int(site["lanes"], 16), site["role"], site["asynchronous"], functions)


def finding_of(f: Dict[str, Any], text: str = "", ptx: str = "") -> Finding:
    """Of a finding as --json has it."""
    return Finding(f["code"], f["severity"], f["message"], f["kernel"]["name"], f["object"],
                   tuple(_site(s, ptx) for s in f["sites"]), f["missing"], f["help"], f["rule"], f["count"],
                   tuple(f["schedules"]), f["fatal"], text, f["fingerprint"])


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether the launch is right, and on what that rests."""

    word: str
    """clean, strict, incomplete, errors, interrupted; "not checked" without checks"""
    reason: str
    decided: bool
    """for all schedules"""
    schedules_tried: int
    scope: Dict[str, Any]
    """of a check: schedules and data for which it holds"""
    assumptions: Tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


@dataclasses.dataclass(frozen=True)
class Comparison:
    """An output against what is wanted."""

    output: str
    ok: bool
    bits_equal: bool
    elements: int
    differing: int
    outside_tolerance: int
    max_abs: float
    max_rel: float
    max_ulps: int
    first: Optional[Dict[str, Any]]
    """index, got, wanted, got_bits, wanted_bits"""


@dataclasses.dataclass(frozen=True)
class Time:
    """The chip's clock of a launch under the schedule "hardware"."""

    cycles: int
    """of an SM"""
    microseconds: float
    json: Dict[str, Any]
    """occupancy, stalls, lines, rates, what would help (why=True)"""


class Result:
    """What one launch gave."""

    findings: List[Finding]
    """errors first"""
    verdict: Verdict
    comparisons: List[Comparison]
    json: Dict[str, Any]
    """everything, as `palladion run --json` and `check --json` state it"""

    def __init__(self, answer: Dict[str, Any], page: Callable[[], str], ptx: str = "",
                 outputs: Optional[List[Any]] = None) -> None:
        self.json = answer["report"]
        self.outputs = outputs or []
        self._sim = self.json.get("sim", self.json)
        self._page = page
        self.findings = [finding_of(f, text, ptx) for f, text in zip(self._sim["findings"], answer["texts"])]
        self.verdict = self._verdict()
        self.comparisons = [_comparison(c) for c in self.json.get("reference", ())]

    def _verdict(self) -> Verdict:
        s = self._sim
        if "verdict" not in s:
            return Verdict("not checked", "", False, 1, {}, ())
        return Verdict(s["verdict"], s["verdict_reason"], s["decided_for_all_schedules"], s["schedules_tried"],
                       self.json.get("scope", {}), tuple(self.json.get("assumptions", ())))

    @property
    def ok(self) -> bool:
        """No errors, and every comparison holds."""
        return bool(self.json["exit_code"] == 0)

    @property
    def completed(self) -> bool:
        """Every CTA ran to its end, under every schedule that was tried."""
        runs = [self._sim] if "completed" in self._sim else self.json["schedules"]
        return all(run["completed"] for run in runs)

    @property
    def time(self) -> Optional[Time]:
        """None: the clock did not run."""
        clock = self._sim.get("clock")
        return None if clock is None else Time(clock["cycles"], clock["microseconds"], clock)

    @property
    def cycles(self) -> Optional[int]:
        """Of an SM, under the schedule "hardware"; None under others."""
        return None if self.time is None else self.time.cycles

    @property
    def printed(self) -> str:
        """What the kernel printed."""
        return str(self._sim.get("printed", ""))

    def report(self, path: "Optional[os.PathLike[str] | str]" = None) -> str:
        """The page of this launch, one HTML file that needs nothing else: timeline, source, memory, findings.

        The launch is run again for it, with the arrays that it had. `path`: where it is written as well."""
        page = self._page()
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def expect_clean(self) -> "Result":
        """Itself; raises FindingsError where the launch has errors or outputs that differ."""
        if not self.ok:
            raise FindingsError("\n" + str(self), self)
        return self

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.report())}" style="width:100%;height:800px;border:0"></iframe>')

    def __repr__(self) -> str:
        parts = [f"{self.json['kernel']} on {self.json['arch']}: {self.verdict}"]
        if self.cycles is not None and self.time is not None:
            parts.append(f"{self.cycles} cycles, {self.time.microseconds:.3f} us")
        wrong = [c.output for c in self.comparisons if not c.ok]
        if wrong:
            parts.append("other than wanted: " + ", ".join(wrong))
        return f"<Result {'; '.join(parts)}>"

    def __str__(self) -> str:
        return "\n\n".join([repr(self)] + [str(f).rstrip("\n") for f in self.findings])


_WORST = ("errors", "interrupted", "incomplete", "not checked", "strict", "clean")


class Results:
    """What several launches gave: those of a function of JAX, in their order."""

    def __init__(self, name: str, launches: Sequence[Result], outputs: Any, fatal: Sequence[Finding] = (),
                 comparisons: Sequence[Comparison] = ()) -> None:
        self.name, self.launches, self.outputs = name, list(launches), outputs
        self.comparisons = list(comparisons)
        self.fatal = list(fatal)
        """what ended the call while it was recorded; there are no outputs then"""

    @property
    def findings(self) -> List[Finding]:
        """Of all launches."""
        return self.fatal + [f for launch in self.launches for f in launch.findings]

    @property
    def verdict(self) -> Verdict:
        """The worst of them, with the launch that it is of; "errors" where the call did not reach its end."""
        if self.fatal:
            return Verdict("errors", f"{self.fatal[0].kernel}: {self.fatal[0].message}", False, 1, {}, ())
        if not self.launches:
            return Verdict("clean", "no kernel was launched", True, 0, {}, ())
        worst = min(self.launches, key=lambda r: (_WORST.index(r.verdict.word), r.verdict.decided))
        return dataclasses.replace(worst.verdict, reason=f"{worst.json['kernel']}: {worst.verdict.reason}")

    @property
    def ok(self) -> bool:
        """No launch has errors, and every comparison holds."""
        return not self.fatal and all(r.ok for r in self.launches) and all(c.ok for c in self.comparisons)

    @property
    def completed(self) -> bool:
        return not self.fatal and all(r.completed for r in self.launches)

    @property
    def cycles(self) -> Optional[int]:
        """Their sum, under the schedule "hardware": one after the other, without what lies between them."""
        cycles = [r.cycles for r in self.launches]
        return None if None in cycles else sum(c for c in cycles if c is not None)

    @property
    def microseconds(self) -> Optional[float]:
        """As `cycles`."""
        times = [r.time for r in self.launches]
        return None if None in times else sum(t.microseconds for t in times if t is not None)

    def report(self, path: "Optional[os.PathLike[str] | str]" = None) -> str:
        """The page of the launch with the worst verdict, of equal ones that with the most cycles."""
        if not self.launches:
            raise ValueError(f"{self.name} launched no kernel")
        worst = min(self.launches, key=lambda r: (_WORST.index(r.verdict.word), -(r.cycles or 0)))
        return worst.report(path)

    def expect_clean(self) -> "Results":
        """Itself; raises FindingsError where a launch has errors, or outputs differ."""
        if not self.ok:
            raise FindingsError("\n" + str(self), self)
        return self

    def _repr_html_(self) -> str:
        return "".join(r._repr_html_() for r in self.launches)

    def __repr__(self) -> str:
        parts = [f"{self.name}, {len(self.launches)} launches: {self.verdict}"]
        if self.launches and self.cycles is not None:
            parts.append(f"{self.cycles} cycles, {self.microseconds:.3f} us")
        wrong = [c.output for c in self.comparisons if not c.ok]
        if wrong:
            parts.append("other than wanted: " + ", ".join(wrong))
        return f"<Results {'; '.join(parts)}>"

    def __str__(self) -> str:
        return "\n\n".join([repr(self)] + [str(f).rstrip("\n") for f in self.findings])


def _comparison(c: Dict[str, Any]) -> Comparison:
    return Comparison(c["output"], c["ok"], c["bits_equal"], c["elements"], c["differing"], c["outside_tolerance"],
                      float(c["max_abs"]), float(c["max_rel"]), int(c["max_ulps"]), c.get("first"))
