"""The checkers that are compared: each takes a bundle and returns a Verdict."""

import dataclasses
import json
import struct
import subprocess
import sys
import time

import bundles


@dataclasses.dataclass
class Verdict:
    result: str  # the checker's own word
    details: str  # codes, or the first diagnostic
    seconds: float


# ---- SentryWard ------------------------------------------------------------------------------------
def sentryward_input(bundle):
    """Its input.json (`spverify.kernel-input/v1`): the launch, identities of pointers, values of scalars."""
    m = bundle.manifest
    launch = {"grid_dim": m["grid"], "block_dim": m["block"], "dynamic_shared_bytes": m["dynamic_shared"]}
    if m["cluster"] != [1, 1, 1]:
        launch["cluster_dim"] = m["cluster"]
    result = {
        "schema": "spverify.kernel-input/v1",
        "entry": m["entry"],
        "launch": launch,
        "declarations": [],
        "arguments": [],
        "tma_descriptors": [],
    }
    for index, parameter in enumerate(bundle.parameters()):
        data = bundle.block[parameter.offset : parameter.offset + parameter.size]
        if parameter.type == "b8":
            describe_bytes(bundle, index, data, result)
        elif parameter.pointer and not any(data):
            result["arguments"].append({"parameter": index, "type": "pointer", "value": None})
        else:
            describe_scalar(bundle, index, 0, parameter.type, data, result)
    return result


def describe_scalar(bundle, index, offset, type_, data, result):
    place = {"parameter": index} | ({"offset": offset} if offset else {})
    bits = int.from_bytes(data, "little")
    found = bundle.buffer_at(bits) if len(data) == 8 else None
    if found:
        result["declarations"].append(place | {"type": "pointer", "space": "global", "object": found[0]})
    elif type_ in ("f32", "f64"):
        value = struct.unpack("<f" if type_ == "f32" else "<d", data)[0]
        result["arguments"].append(place | {"type": type_, "value": value})
    else:
        signed = type_[0] == "s" and bits >> 8 * len(data) - 1
        result["arguments"].append(place | {"type": type_, "value": bits - (1 << 8 * len(data)) if signed else bits})


def describe_bytes(bundle, index, data, result):
    """A struct: tensor maps where 128 bytes at a multiple of 64 are one, else pointers and words of 32 bits."""
    at = 0
    while at < len(data):
        fields = bundles.tensor_map(data[at : at + 128]) if at % 64 == 0 and at + 128 <= len(data) else None
        found = bundle.buffer_at(fields.pop("address")) if fields else None
        place = {"parameter": index} | ({"offset": at} if at else {})
        if found:
            result["declarations"].append(place | {"type": "tensor_map", "object": found[0]})
            result["tma_descriptors"].append(place | fields | {"object": found[0], "base_byte_offset": found[1]})
            at += 128
        elif at % 8 == 0 and at + 8 <= len(data) and bundle.buffer_at(int.from_bytes(data[at : at + 8], "little")):
            describe_scalar(bundle, index, at, "u64", data[at : at + 8], result)
            at += 8
        else:
            describe_scalar(bundle, index, at, "b32", data[at : at + 4], result)
            at += 4


def sentryward(bundle, seconds):
    path = bundle.folder / "sentryward.json"
    path.write_text(json.dumps(sentryward_input(bundle)))
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "sentryward",
                str(bundle.folder / "kernel.ptx"),
                "--input",
                str(path),
                "--timeout",
                str(seconds),
                "--memory-limit-mib",
                "3000",
            ],
            capture_output=True,
            text=True,
            timeout=seconds + 10,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Verdict("timeout", "", time.monotonic() - begin)
    spent = time.monotonic() - begin
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return Verdict("tool_failure", done.stderr[-200:], spent)
    (bundle.folder / "sentryward.out.json").write_text(done.stdout)
    text = "; ".join(f"{d.get('code')}: {d.get('message', '')}" for d in report.get("diagnostics", [])[:2])
    return Verdict(report["result"], text[:300].replace("\n", " "), spent)


# ---- Palladion -------------------------------------------------------------------------------------
def palladion(program, bundle, seconds, subject=None):
    """result: error, strict, clean, undecided (no finding, not for all schedules), timeout; subject: not the bundle"""
    path = bundle.folder / "palladion.json"
    path.unlink(missing_ok=True)
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [program, "check", subject or str(bundle.folder), "--seeds", "3", "--json", str(path)],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Verdict("timeout", "", time.monotonic() - begin)
    spent = time.monotonic() - begin
    if not path.exists():
        return Verdict(f"exit {done.returncode}", (done.stdout + done.stderr).strip()[:200].replace("\n", " "), spent)
    report = json.loads(path.read_text())
    codes = {}
    for finding in report["findings"]:
        codes.setdefault(finding["severity"], set()).add(finding["code"])
    details = " ".join(f"{severity}:{'+'.join(sorted(codes[severity]))}" for severity in sorted(codes))
    # Not the exit code: it also says that the outputs of a mutant are not the original's.
    result = "error" if "error" in codes else "strict" if codes else "clean" if report["decided"] else "undecided"
    return Verdict(result, details, spent)
