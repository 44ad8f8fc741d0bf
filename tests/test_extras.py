"""The plain install is numpy and Gymnasium; whatever else is missing is asked for by name."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import adastack

PACKAGE = Path(adastack.__file__).parent
ROOT = PACKAGE.parents[1]
CORE = {"numpy", "gymnasium", "adastack", "adastack_command", *sys.stdlib_module_names}
BRINGS = {
    "jax": {"scipy"},
    "stable_baselines3": {"torch"},
    "torchrl": {"torch", "tensordict"},
}
"""What comes with a package that is asked for."""
DISTRIBUTIONS = {"PIL": "pillow", "imageio_ffmpeg": "imageio", "mlflow": "mlflow-skinny"}
GYMNASIUM_NEEDS = {"cloudpickle", "farama-notifications", "typing-extensions"}

USE = """
import gymnasium as gym
from adastack.wrappers import AdaptiveStack, RecordMemory
from adastack.wrappers.vector import AdaptiveStack as VectorAdaptiveStack

def walk(env, actions):
    env.reset(seed=0)
    for action in actions:
        *_, info = env.step(action)
    return info

keep_the_cue = ([0, 0], [0, 1], [0, 1])
maze = gym.make("adastack/PassiveTMaze-v0", length=3)
info = walk(RecordMemory(AdaptiveStack(maze, 2)), keep_the_cue)
assert info["memory"]["passive_regret"] == 0, info
assert info["memory"]["length"] == 3, info
mazes = gym.make_vec(
    "adastack/PassiveTMaze-v0", 2, vectorization_mode="vector_entry_point", length=3
)
info = walk(VectorAdaptiveStack(mazes, 2), [[joint] * 2 for joint in keep_the_cue])
assert info["slot_ages"].tolist() == [[3, 0]] * 2, info

import adastack.cli
try:
    from adastack import Agent
except ImportError as error:
    print(error)
print(adastack.cli.main(["train", "xormaze"]))
"""
"""What works without an extra, and the two ways to ask for one."""


def test_the_plain_install_is_numpy_and_gymnasium():
    assert {_name(line) for line in _project()["dependencies"]} == {"numpy", "gymnasium"}


def test_what_is_imported_is_asked_for():
    missing = {str(path): _imported(path) - CORE - _there(path) for path in PACKAGE.rglob("*.py")}
    assert {path: packages for path, packages in missing.items() if packages} == {}


def test_an_extra_has_what_is_asked_for_in_its_name():
    extras = _project()["optional-dependencies"]
    for path in PACKAGE.rglob("*.py"):
        for package, extra in _asked(path):
            name = DISTRIBUTIONS.get(package, package.replace("_", "-"))
            held = {_name(line) for line in extras[extra]}
            assert name in held | GYMNASIUM_NEEDS, (path, package, extra)


def test_the_core_works_where_nothing_else_is_installed():
    extras = _project()["optional-dependencies"].values()
    names = {_name(line).replace("-", "_") for lines in extras for line in lines}
    absent = sorted({*names, "PIL", "torch"} - {"adastack"})
    block = f"import sys; sys.modules.update(dict.fromkeys({absent}))"
    _check_use([sys.executable, "-c", f"{block}\n{USE}"], ROOT)


@pytest.mark.slow
def test_other_libraries_need_no_learner_of_ours():
    for library in ("stable_baselines3", "sb3_contrib", "torchrl"):
        pytest.importorskip(library)
    ours = ("numba", "jax", "flax", "optax", "rich", "lark")
    block = f"import sys; sys.modules.update(dict.fromkeys({ours}))"
    use = "import adastack.integrations.sb3, adastack.integrations.torchrl"
    _run([sys.executable, "-c", f"{block}\n{use}"], ROOT)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(PACKAGE.parent, source / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip"]
    _output([*pip, "wheel", "--no-deps", "-w", folder, source], folder)
    return next(folder.glob("adastack-*.whl"))


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_a_bare_wheel_works(version, wheel, tmp_path):
    interpreter = _interpreter(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on the PATH or in pyenv")
    bare = tmp_path / "bare"
    _output([interpreter, "-m", "venv", "--without-pip", bare], tmp_path)
    python, script = bare / "bin" / "python", bare / "bin" / "adastack"
    pip = [sys.executable, "-m", "pip", "--python", python]
    _output([*pip, "install", wheel], tmp_path)
    listed = _output([*pip, "list", "--format", "freeze"], tmp_path).split()
    installed = {line.split("==")[0].lower().replace("_", "-") for line in listed}
    assert installed == {"adastack", "numpy", "gymnasium", *GYMNASIUM_NEEDS}
    _check_use([python, "-c", USE], tmp_path)
    assert _output([script, "--version"], tmp_path) == f"adastack {adastack.__version__}\n"


def _interpreter(version):
    """A Python of this version: the one that runs, one on the PATH, or one of pyenv's."""
    if version == ".".join(map(str, sys.version_info[:2])):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    installed = sorted(pyenv.glob(f"{version}.*/bin/python"))
    return next(iter(installed), None) or shutil.which(f"python{version}")


def _check_use(command, folder):
    done = _run(command, folder)
    assert done.stdout == "numba is needed here: pip install 'adastack[train]'\n2\n"
    assert done.stderr == "adastack train: rich is needed here: pip install 'adastack[train]'\n"


def _output(command, folder):
    return _run(command, folder).stdout


def _run(command, folder):
    """Runs a command; outside the checkout without its path, so that the wheel is what runs."""
    hidden = () if folder == ROOT else ("PYTHONPATH",)
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _name(requirement):
    return re.match(r"[\w-]+", requirement)[0]


def _there(path):
    """Packages that a module, or a package that it is in, asks for, and what they bring."""
    parents = [parent / "__init__.py" for parent in path.parents if PACKAGE in parent.parents]
    asked = {package for file in (path, *parents) for package, _ in _asked(file)}
    return asked.union(*(BRINGS.get(package, set()) for package in asked))


@cache
def _asked(path):
    """(package, extra) of each call that asks for a package."""
    found = set()
    for call in ast.walk(ast.parse(path.read_text())):
        name = getattr(getattr(call, "func", None), "id", "")
        if name in ("check_installed", "require") and path.name != "extras.py":
            *packages, extra = [*call.args, *(word.value for word in call.keywords)]
            found |= {(package.value.partition(".")[0], extra.value) for package in packages}
    return found


def _imported(path):
    """Packages that a module imports, but for annotations or under ``try``."""
    found, nodes = set(), [ast.parse(path.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
        elif not isinstance(node, ast.Try) and not _for_types(node):
            nodes += ast.iter_child_nodes(node)
    return found


def _for_types(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
