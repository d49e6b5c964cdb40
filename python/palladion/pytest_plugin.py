"""pytest: findings of a test's launches make it fail and are printed beneath it.

    pytest --palladion                             CUDA of the tests runs in the simulated GPU, checked
    pytest --palladion --palladion-schedule latest
    pytest --palladion --palladion-limit 60        launches of a test that has not ended in a minute end, and are reported
    @pytest.mark.palladion(expect="PLD6001")       the test passes if its launches have this finding, and no other error
    @pytest.mark.palladion(schedule="hardware")    its launches run under this schedule

A kernel that fails ends its test alone: the device works again for the next one.
"""
from __future__ import annotations

import threading
from typing import Any, Dict, Generator, List, Sequence, Set

import pytest

from . import _active
from ._result import Finding

_FAIL = ("error", "unsupported")
_totals: Dict[str, int] = {"launches": 0, "computed": 0}  # of the processes of xdist


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("palladion", "CUDA kernels in a simulated GPU, checked")
    group.addoption("--palladion", action="store_true", help="run the tests' CUDA kernels in the simulated GPU, checked")
    group.addoption("--palladion-arch", default="h200", metavar="CHIP", help="h200 (the default), b200, ...")
    group.addoption("--palladion-check", default="all", metavar="CHECKS", help="all, or some of race, barrier, memory, numerics")
    group.addoption("--palladion-schedule", default="functional", metavar="NAME",
                    help="functional (the default), hardware (with the clock), latest, earliest, seeded:N")
    group.addoption("--palladion-schedules", default="1", metavar="N", help="judge each launch under N schedules, or all")
    group.addoption("--palladion-limit", type=float, default=0, metavar="SECONDS",
                    help="a test that takes longer has its launches ended, with the report of what they wait for")
    group.addoption("--palladion-torch", action="store_true", help="PyTorch's own operators by those of the host")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Before a conftest.py imports what uses CUDA."""
    options = early_config.known_args_namespace
    if not options.palladion:
        return
    _active.activate(options.palladion_arch, options.palladion_check, options.palladion_schedule,
                     options.palladion_schedules, quiet=True)
    if options.palladion_torch:
        from . import torch
        torch.install()


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "palladion(expect=None, schedule=None): findings that the launches of a test must "
                                       "have (a code, or a list), the schedule under which they run")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, Any, None]:
    if not item.config.option.palladion:
        yield
        return
    mark = item.get_closest_marker("palladion")
    schedule = mark.kwargs.get("schedule") if mark else None
    _active.findings()  # what was launched between tests
    if schedule:
        _active.set_schedule(schedule)
    yield
    if schedule:
        _active.set_schedule(item.config.option.palladion_schedule)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    limit = item.config.option.palladion_limit
    if not item.config.option.palladion or limit <= 0:
        yield
        return
    timer = threading.Timer(limit, _end, [item])
    timer.daemon = True
    timer.start()
    yield
    timer.cancel()


def _end(item: Any) -> None:
    item.palladion_late = True
    _active.end_launches()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    outcome = yield
    if not item.config.option.palladion:
        return
    report = outcome.get_result()
    _active.wait()
    found = _active.findings()
    _active.clear_fault()
    if call.when == "call":
        _judge(report, found, _expected(item), call.excinfo)
        if getattr(item, "palladion_late", False):
            _fail(report, f"palladion: the test took longer than {item.config.option.palladion_limit:g} s: its launches were ended")
    elif found:
        _show(report, found, set())


def _expected(item: Any) -> Set[str]:
    mark = item.get_closest_marker("palladion")
    codes: Any = mark.kwargs.get("expect") if mark else None
    return {codes} if isinstance(codes, str) else set(codes or ())


def _judge(report: Any, found: Sequence[Finding], expected: Set[str], raised: Any) -> None:
    codes = {f.code for f in found}
    faulted = any(f.fatal and f.code in expected for f in found)
    if report.failed and faulted and not raised.errisinstance(AssertionError):
        report.outcome, report.longrepr = "passed", None  # the call that met the fault gave its error
    missing = expected - codes
    if missing and not report.skipped:
        _fail(report, f"palladion: expected {', '.join(sorted(missing))}, found {', '.join(sorted(codes)) or 'nothing'}")
    _show(report, found, expected)


def _show(report: Any, found: Sequence[Finding], expected: Set[str]) -> None:
    wrong = [f for f in found if f.severity in _FAIL and f.code not in expected]
    others = [f for f in found if f not in wrong and f.code not in expected]
    if wrong:
        counted = "a finding" if len(wrong) == 1 else f"{len(wrong)} findings"
        _fail(report, f"palladion: {counted} in the launches of this test\n\n" + _text(wrong))
    if others:
        report.sections.append(("palladion: no errors, but", _text(others)))


def _fail(report: Any, text: str) -> None:
    """In place of a success, or beneath another failure."""
    if report.failed:
        report.sections.append(("palladion", text))
    else:
        report.outcome, report.longrepr = "failed", text


def _text(found: Sequence[Finding]) -> str:
    return "\n\n".join(str(f).rstrip("\n") for f in found)


def _counts() -> Dict[str, int]:
    import sys
    module = sys.modules.get("palladion.torch")
    return {"launches": sum(row["launches"] for row in _active.launches()),
            "computed": sum(module.computed().values()) if module else 0}


def pytest_sessionfinish(session: Any) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None and session.config.option.palladion:
        output["palladion"] = _counts()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for name, count in getattr(node, "workeroutput", {}).get("palladion", {}).items():
        _totals[name] += count


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    if not config.option.palladion:
        return
    own = _counts()
    launches, computed = (_totals[name] + own[name] for name in ("launches", "computed"))
    lines: List[str] = [f"{launches} launches ran in a simulated {config.option.palladion_arch}, checks: "
                        f"{config.option.palladion_check}, schedule: {config.option.palladion_schedule}"]
    if computed:
        lines.append(f"{computed} operations of PyTorch were computed on the host, not checked")
    terminalreporter.section("palladion")
    for line in lines:
        terminalreporter.line(line)


