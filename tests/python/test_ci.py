"""action.yml and the container recipe, as GitHub and Docker read them: steps run, and what they name exists."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from test_wheel import wheel  # noqa: F401: a fixture

yaml = pytest.importorskip("yaml")

root = pathlib.Path(__file__).resolve().parents[2]
HOWTO = root / "docs" / "howto"
DEV = (root / "dev").read_text()

# The zoo's kernel has an error; its right twin has none.
BROKEN, RIGHT = "zoo/async-store-no-proxy-fence", "zoo/async-store-no-proxy-fence:good"
# In place of Docker: it says its words, and gives the wheel that it was told of.
DOCKER = '#!/bin/sh\necho "$*" >> "$RUNNER_TEMP/docker"\nwhile [ "$1" != --output ]; do shift; done\nmkdir -p "$2"\ncp "$GIVEN" "$2"\n'


def recipe(path):
    """The instructions of a Containerfile: (name, words)."""
    text = re.sub(r"\\\n", " ", path.read_text())
    return [(line.split()[0], line.split(None, 1)[1]) for line in text.splitlines() if line and not line.startswith("#")]


def stages(path):
    return [words.split()[-1] for name, words in recipe(path) if name == "FROM"]


class Runner:
    """Runs the steps of action.yml. What it `uses` of others is only noted."""

    def __init__(self, folder, inputs, environment):
        self.action = yaml.safe_load((root / "action.yml").read_text())
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown
        self.inputs = {name: inputs.get(name, about.get("default")) for name, about in self.action["inputs"].items()}
        self.outputs, self.used, self.folder = {}, {}, folder
        self.environment = dict(os.environ, RUNNER_TEMP=str(folder), GITHUB_ACTION_PATH=str(root), **environment)

    def value(self, name):
        kind, *rest = name.split(".")
        if kind == "steps":
            return self.outputs.get(rest[0], {}).get(rest[2], "")
        return {"inputs": self.inputs, "runner": {"temp": str(self.folder)}}[kind][rest[0]]

    def text(self, text):
        return re.sub(r"\$\{\{ *(\S+) *\}\}", lambda m: str(self.value(m[1])), str(text))

    def holds(self, condition):
        """Comparisons of a name with a text, joined by &&."""
        for part in condition.split("&&"):
            name, how, wanted = part.split()
            if (self.value(name) == wanted.strip("'")) != (how == "=="):
                return False
        return True

    def run(self):
        """The exit code of the first step that fails; 0: of none."""
        for number, step in enumerate(self.action["runs"]["steps"]):
            if not self.holds(step.get("if", "inputs.run != ''")):
                continue
            if "uses" in step:
                self.used[step["uses"].split("@")[0]] = {name: self.text(value) for name, value in step["with"].items()}
                continue
            given = self.folder / f"output{number}"
            given.touch()
            environment = dict(self.environment, GITHUB_OUTPUT=str(given),
                               **{name: self.text(value) for name, value in step.get("env", {}).items()})
            done = subprocess.run(["bash", "-eo", "pipefail", "-c", self.text(step["run"])], env=environment, cwd=self.folder)
            self.outputs[step.get("id", number)] = dict(line.split("=", 1) for line in given.read_text().splitlines())
            if done.returncode != 0:
                return done.returncode
        return 0


def a_run(folder, wheel, given=True, **inputs):  # noqa: F811
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        pytest.skip("no pip (Debian: python3-pip)")
    tools = folder / "tools"
    tools.mkdir()
    (tools / "docker").write_text(DOCKER)
    (tools / "docker").chmod(0o755)
    (tools / "python3").symlink_to(sys.executable)
    without = {"PALLADION_HOME": "", "PYTHONPATH": "", "GIVEN": str(wheel), "PATH": f"{tools}:{os.environ['PATH']}"}
    if given:
        inputs["wheel"] = str(wheel)
    runner = Runner(folder, inputs, without)
    return runner, runner.run()


def test_findings_are_uploaded_before_the_action_fails(tmp_path, wheel):  # noqa: F811
    runner, code = a_run(tmp_path, wheel, run=f"check '{BROKEN}' --limit 3", category="zoo")
    assert code == 1
    assert runner.text(runner.action["outputs"]["exit-code"]["value"]) == "1"
    upload = runner.used["github/codeql-action/upload-sarif"]
    assert upload["category"] == "zoo" and '"PLD4309"' in pathlib.Path(upload["sarif_file"]).read_text()
    assert not (tmp_path / "docker").exists() and "actions/cache" not in runner.used


def test_without_a_wheel_it_is_built_once(tmp_path, wheel):  # noqa: F811
    runner, code = a_run(tmp_path, wheel, given=False, run=f"check {RIGHT}")
    assert code == 0
    words = shlex.split((tmp_path / "docker").read_text())
    file, target = (pathlib.Path(words[words.index(option) + 1]) for option in ("--file", "--target"))
    assert str(target) in stages(file) and pathlib.Path(words[-1]) == root
    kept = runner.used["actions/cache"]
    assert re.fullmatch(r"palladion-wheel-[0-9a-f]{64}", kept["key"])
    assert (pathlib.Path(kept["path"]) / wheel.name).exists()


def test_a_program_is_run_with_the_package(tmp_path, wheel):  # noqa: F811
    program = tmp_path / "own.py"
    program.write_text("import palladion, sys\nassert '_installed' in str(palladion._home.home().library)\nsys.exit(5)\n")
    runner, code = a_run(tmp_path, wheel, run="exec --check all -- python3 own.py", upload="false")
    assert code == 5 and runner.value("steps.judge.outputs.sarif") and not runner.used


def test_a_wrong_command_fails_without_an_upload(tmp_path, wheel):  # noqa: F811
    runner, code = a_run(tmp_path, wheel, run="check zoo/there-is-none")
    assert code == 2 and not runner.used


@pytest.mark.parametrize("path", [root / "Containerfile", HOWTO / "ci" / "Containerfile"], ids=str)
def test_what_a_recipe_names_exists(path):
    known, purposes = [], {line.split()[0] for line in (root / "packages.txt").read_text().splitlines() if line}
    for name, words in recipe(path):
        assert name in ("FROM", "WORKDIR", "COPY", "RUN", "ENV", "ENTRYPOINT")
        if name == "FROM":
            known.append(words.split()[-1])
        if name == "COPY":
            *sources, _ = words.split()
            if sources[0].startswith("--from="):
                assert sources[0][len("--from="):] in known[:-1]
            else:
                assert all((root / source).exists() for source in sources)
        for command in [shlex.split(c) for c in words.split("&&")] if name == "RUN" else []:
            assert command[0] in ("./dev", "apt-get", "rm", "python3", "pip", "/opt/palladion/bin/pip")
            if command[0] == "./dev":
                assert re.search(rf"^  {command[1]} ", DEV, re.M)
                assert command[1] != "setup" or set(command[2:]) <= purposes
    assert stages(root / "Containerfile") == ["build", "wheel", "palladion"]


def test_the_commands_of_the_page_name_its_stages():
    commands = re.findall(r"^\$ docker (.*)", (HOWTO / "container.md").read_text(), re.M)
    assert len(commands) >= 3
    for words in map(shlex.split, commands):
        assert words[0] in ("build", "run")
        if words[0] == "build":
            assert (root / words[words.index("--file") + 1]).exists() and words[-1] == "."
            assert "--target" not in words or words[words.index("--target") + 1] in stages(root / "Containerfile")
        else:
            assert "palladion" in words


def test_the_page_shows_inputs_that_exist():
    action = yaml.safe_load((root / "action.yml").read_text())
    steps = yaml.safe_load((HOWTO / "ci" / "github.yml").read_text())["jobs"]["check"]["steps"]
    uses = [step["with"] for step in steps if "palladion@" in step.get("uses", "")]
    assert len(uses) == 2 and len({use["category"] for use in uses}) == 2
    for use in uses:
        assert set(use) <= set(action["inputs"])
    table = re.findall(r"^\| `(\w+)` \|", (HOWTO / "ci.md").read_text(), re.M)
    assert table == list(action["inputs"])
    for lines in [use["run"] for use in uses] + yaml.safe_load((HOWTO / "ci" / "gitlab.yml").read_text())["kernels"]["script"]:
        words = shlex.split(lines.replace("palladion ", ""))
        if words[0] in ("check", "exec"):
            own = words[:words.index("--")] if "--" in words else words
            help_text = subprocess.run([os.environ.get("PALLADION_HOME", str(root / "build")) + "/palladion", words[0], "--help"],
                                       capture_output=True, text=True).stdout
            assert all(word in help_text for word in own if word.startswith("--"))
