"""A plugin of pytest for suites.py: writes a line of JSON for each test, when it starts and when it has ended.

    [name] when it starts, [name, verdict, seconds, why, findings] when it has ended

A process that ends in the middle of a test leaves the test's first line. A test that takes longer than
SUITES_SECONDS ends the process, also where native code runs: what follows is for the next process."""
import faulthandler
import json
import os
import re
import time

FINDING = re.compile(r"^(error|strict|unknown|unsupported)(?:\[(PLD\d+)\])?: ([^\n]*)(?:(?:\n   =[^\n]*)*\n *--> ([^\n]*))?", re.M)
PLACE = re.compile(r"[^\s\"']*/(?:site-packages|dist-packages|src)/")  # where the packages lie on this machine
OUT, SECONDS = os.environ["SUITES_OUT"], float(os.environ.get("SUITES_SECONDS", "60"))


def write(line):
    with open(OUT, "a") as out:
        out.write(json.dumps(line) + "\n")


def findings(report):
    """[severity, code, message, place] of each finding that the package's plugin has put into a report."""
    texts = [text for title, text in report.sections if title.startswith("palladion")]
    if str(report.longrepr or "").startswith("palladion:"):
        texts.append(str(report.longrepr))
    found = {tuple(PLACE.sub("", part or "") for part in f) for text in texts for f in FINDING.findall(text)}
    return sorted(map(list, found))


def why(report):
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return report.longrepr[2][-200:]
    text = str(report.longrepr or "")
    if text.startswith("palladion:"):
        return PLACE.sub("", text)[:1500]
    last = [line for line in text.splitlines() if line.startswith("E  ")]
    return PLACE.sub("", "\n".join(last[:6]) or text[-400:])[:600]


class Kept:
    """One test's reports (set-up, call, tear-down) as one result."""

    def __init__(self):
        self.result, self.started, self.trace = None, 0.0, open(OUT + ".trace", "w")

    def pytest_runtest_logstart(self, nodeid):
        self.result, self.started = ["passed", "", []], time.monotonic()
        write([nodeid])
        self.trace.truncate(0)
        faulthandler.dump_traceback_later(SECONDS, exit=True, file=self.trace)

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed" and self.result[0] != "failed":
            self.result[:2] = [report.outcome, why(report)]
        self.result[2] += [f for f in findings(report) if f not in self.result[2]]

    def pytest_runtest_logfinish(self, nodeid):
        faulthandler.cancel_dump_traceback_later()
        write([nodeid, self.result[0], round(time.monotonic() - self.started, 2), *self.result[1:]])

    def pytest_collection_finish(self, session):
        if session.config.option.collectonly:
            for item in session.items:
                write([item.nodeid])

    def pytest_collectreport(self, report):
        if report.failed:
            write([report.nodeid, "failed", 0, why(report), []])


def pytest_configure(config):
    for package, path in (part.split("=") for part in os.environ.get("SUITES_PATHS", "").split(":") if part):
        __import__(package, fromlist=["__path__"]).__path__.append(path)  # helpers of tests that a wheel leaves out
    config.pluginmanager.register(Kept())
