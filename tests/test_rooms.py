"""The house has an order: a room imports only from the rooms before it, and modules have no cycles.

`python tests/test_rooms.py` prints the graph.
"""

import ast
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import adastack

ROOT = Path(adastack.__file__).parent
GROUND = ("extras", "files", "schemas", "folders", "settings", "progress")
ROOMS = (
    *("memory", "wrappers", "tasks", "process", "theory", "tabular", "deep"),
    *(
        "runs",
        "tensorboard",
        "learning_curve",
        "algorithms",
        "training",
        "integrations",
        "viewer",
        "agent_settings",
        "agent",
        "lab",
        "diagnosis",
    ),
    *("bench", "commands", "cli", "__main__"),
)
"""As docs/contributing.md lists them."""
APART = {("deep", "tabular"), ("tabular", "deep")}


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, known):
    """The modules of this package that a module names, also inside its functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    ours = [name.removeprefix("adastack.") for name in found if name.startswith("adastack.")]
    return {next(filter(known.__contains__, _prefixes(name)), "") for name in ours} - {""}


def _prefixes(name):
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def graph():
    paths = {module_name(path): path for path in ROOT.rglob("*.py")}
    return {name: imports_of(path, paths) - {name} for name, path in paths.items()}


def rooms(modules):
    edges = defaultdict(set)
    for name, others in modules.items():
        for other in others:
            if name and name.split(".")[0] != other.split(".")[0]:
                edges[name.split(".")[0], other.split(".")[0]].add((name, other))
    return edges


def test_every_room_is_known():
    found = {name.split(".")[0] for name in graph() if name}
    assert found <= {*GROUND, *ROOMS}


def test_no_room_imports_from_a_later_one():
    order = {room: place for place, room in enumerate((*GROUND, *ROOMS))}
    upward = {
        edge: sorted(modules)
        for edge, modules in rooms(graph()).items()
        if order[edge[0]] < order[edge[1]] or edge in APART
    }
    assert upward == {}


def test_modules_have_no_cycles():
    order = TopologicalSorter({name: others - {""} for name, others in graph().items() if name})
    assert list(order.static_order())


def test_rooms_are_those_of_the_docs():
    page = (ROOT.parents[1] / "docs" / "contributing.md").read_text()
    listed = page.split("## The house")[1].split("```")[1].split("\n")
    named = [line.split()[0].rstrip("/").removesuffix(".py") for line in listed if line.strip()]
    assert tuple(named) == (*GROUND, *ROOMS)


if __name__ == "__main__":
    for (room, other), modules in sorted(rooms(graph()).items()):
        print(f"{room:13} -> {other:12} {len(modules)}")
