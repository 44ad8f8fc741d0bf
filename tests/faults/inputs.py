"""User input: command lines, names, ``.pomdp`` files, environments."""

import itertools
import json
import os
import shutil

from adastack.cli import VERBS
from adastack.cli import _parser as parser_of
from faults import envs
from faults.harness import GOOD, LOST, WRONG, Fault, command, ran, refused, verdict
from faults.trainings import SMALL, TABULAR, often

ODD = (
    *("", " ", "-1", "0", "1e400", "inf", "-inf", "nan", "1e3.5", "0x10", "None", "null", "true"),
    *(
        "9" * 400,
        "1" * 5000,
        "../..",
        "/",
        "/dev/null",
        "/proc/nowhere/x",
        "\x1b[31m",
        "[/b]",
        "a=b",
    ),
    *("\udcff", "ü", "💾", "a\nb", "%s%n", "{}", "$(id)", "'", '"', ":", "::", ":=", "=", ",", "*"),
    *("xormaze", "passive-tmaze:length=x", "passive-tmaze:length=-3", "passive-tmaze:length=4"),
    *("passive-tmaze:", "passive-tmaze:lenght=4", "CartPole-v1", "No-Such-v7", "no_module:X-v0"),
    *("os:system", "json:loads", "adaptive", "random", "sarsa", "ppo", "paper", "lstm", "x" * 300),
)
SAFE = {
    "train": ("--steps", "200"),
    "find-k": ("--steps", "200", "--no-proof"),
    "reproduce": ("--dry-run",),
    "diagnose": ("--minutes", "0.01"),
    "league": ("--dry-run",),
    "bench": ("no-such-chapter",),
}
"""So that a line that is right after all is done soon; some would compute for minutes."""
MAZE = "passive-tmaze:length=4"
RIGHT = {
    "train": (MAZE,),
    "evaluate": ("run",),
    "watch": ("run",),
    "play": (MAZE,),
    "theory": ("kappa", MAZE),
    "find-k": (MAZE,),
    "diagnose": (MAZE,),
    "league": (MAZE,),
    "reproduce": ("tabular",),
    "archive": ("run",),
}
"""What half of the lines begin with, so that their options are looked at."""


def options_of(verb):
    """The options of a verb, and whether each wants a word, as its parser knows them."""
    verbs = next(
        action.choices for action in parser_of(verb)[0]._actions if isinstance(action.choices, dict)
    )
    found = [(a.option_strings[0], a.nargs != 0) for a in verbs[verb]._actions if a.option_strings]
    return [each for each in found if each[0] not in ("-h", "--traceback")]


def words(rng, count, references):
    """Malformed command lines."""
    verbs = list(VERBS)
    for i in range(count):
        verb = verbs[i % len(verbs)]
        line, known = [verb], options_of(verb)
        if right := i // len(verbs) % 2:
            line += RIGHT.get(verb, ())
        for _ in range(0 if right else int(rng.integers(0, 3))):
            line.append(ODD[int(rng.integers(len(ODD)))])
        for _ in range(int(rng.integers(0, 4))):
            option, wants = known[int(rng.integers(len(known)))]
            line += [option, ODD[int(rng.integers(len(ODD)))]] if wants else [option]
        line += SAFE.get(verb, ())
        if rng.random() < 0.3:
            line.append("--json")
        line = [word.replace("\0", "") for word in line]

        def run(place, line=tuple(line)):
            if "run" in line:
                shutil.copytree(references["sarsa"], place / "run")
            ended = ran(command(*line), place, 120)
            found = verdict(ended)
            if found:
                return found, f"{line}: {ended.said}"
            said = [text for text in ended.err.splitlines() if text.startswith("adastack")]
            if ended.code not in (0, 1, 2) or (ended.code and len(said) != 1):
                return LOST, f"{line}: code {ended.code}: {ended.said}"
            return (WRONG, f"{line}: control characters") if _steers(ended) else (GOOD, "")

        yield Fault("command lines", f"{verb} {i}", run)


def _steers(ended):
    """Whether a control character has reached the terminal."""
    return any(not (each.isprintable() or each == "\n") for each in ended.said)


NAMES = ("[/b]", "[red]x", "\x1b]0;x\x07", "\x1b[2J", "[bold", "a[/]b", ":warning:", "\u202ex",
         "[link=http://x]y[/link]", "\r\x1b[A")  # fmt: skip


def markup(rng, count, references):
    """Names with markup and control characters, shown in every way there is."""
    for i in range(count):
        name = NAMES[i % len(NAMES)] + str(i)
        kind = i // len(NAMES) % 3

        def run(place, name=name, kind=kind):
            out = place / name.replace("/", "_") / name.replace("/", "_")
            lines = [("train", *TABULAR["sarsa"], "--out", out)]
            if kind == 1:
                lines.append(("evaluate", out))
            elif kind == 2:
                lines = [("train", name, "--out", "x"), ("theory", "kappa", name),
                         ("evaluate", name), ("runs", name, "--store", ".")]  # fmt: skip
            for line in lines:
                ended = ran(command(*line, before=often), place)
                if verdict(ended):
                    return verdict(ended), ended.said
                good = refused(ended) if kind == 2 and line[0] != "runs" else ended.code == 0
                if not good:
                    return LOST, f"{line}: {ended.said}"
                if _steers(ended):
                    return WRONG, f"{line}: {ended.said!r}"
            return GOOD, ""

        yield Fault("markup", f"{name!r}", run)


def environment_lines():
    """Environments that raise, leave, and return what they must not, and their command lines."""
    raised = [
        (what, where) for where in ("step", "reset", "making", "close") for what in envs.RAISED
    ]
    sets = [word for each in SMALL for word in ("--set", each)]
    return [
        (what, where, ("train", f"faults.envs:Bad:what={what},where={where}", *sets,
                       "--steps", "128", "--out", "run"))
        for what, where in (*((what, "step") for what in envs.STEPS), *raised)
    ]  # fmt: skip


def judged_environment(ended, what, where):
    """Whether a training said in one line what its environment did."""
    if verdict(ended):
        return verdict(ended), f"{what} in {where}: {ended.said}"
    if what in envs.HARMLESS and where == "step" and ended.code == 0:
        return GOOD, ""
    named = "Bad" in ended.err or what in ("interrupt", "memory error")
    if not refused(ended) or not named or _steers(ended):
        return LOST, f"{what} in {where}: code {ended.code}: {ended.said}"
    return GOOD, ""


def environments(rng, count):
    """Environments that fail, each in a process of its own."""
    for what, where, words in itertools.islice(itertools.cycle(environment_lines()), count):

        def run(place, what=what, where=where, words=words):
            return judged_environment(ran(command(*words), place), what, where)

        yield Fault("environments", f"{what} in {where}", run)


def symbols(rng, count):
    """Symbols that a space does not hold; and an environment that talks under ``--json``."""
    for i in range(count):
        symbol = int(rng.choice([-1, 4, 5, 2**31 - 1, -(2**31)]))

        def run(place, symbol=symbol, talks=i % 4 == 3):
            task = "faults.envs:Talks" if talks else f"faults.envs:Symbols:symbol={symbol}"
            sets = [word for each in SMALL for word in ("--set", each)]
            words = ("train", task, *sets, "--steps", "128", "--out", "run", "--json")
            ended = ran(command(*words), place)
            if verdict(ended):
                return verdict(ended), ended.said
            if talks:
                return (GOOD, "") if json.loads(ended.out)["seeds"] else (WRONG, ended.out)
            return (GOOD, "") if refused(ended) and "Symbols" in ended.err else (WRONG, ended.said)

        yield Fault("environments", f"symbol {symbol}", run)


GOOD_FILE = """discount: 0.9
values: reward
states: a b
actions: l r
observations: x y
T: * uniform
O: * uniform
R: * : * : * : * 1
"""


def _pomdp_texts(rng):
    lines = GOOD_FILE.splitlines()
    odd = ("1e999", "-1", "nan", "9" * 5000, "a", "*", ":", "uniform", "reset", "\0", "²", "٣")
    while True:
        kind = int(rng.integers(8))
        if kind == 0:
            yield "a million names", "states: " + " ".join(f"s{i}" for i in range(10**6)) + "\n"
        elif kind == 1:
            number = int(rng.choice([2**12 + 1, 2**24, 2**31, 10**18]))
            yield f"{number} states", GOOD_FILE.replace("states: a b", f"states: {number}")
        elif kind == 2:
            yield "noise", rng.bytes(int(rng.integers(1, 5000))).decode("latin-1")
        elif kind == 3:
            # A discount, what values are and rewards may be missing; one of the others is.
            lost = lines[int(rng.integers(2, len(lines) - 1))]
            kept = [line for line in lines if rng.random() < 0.7 and line != lost]
            yield "lines missing", "\n".join(kept)
        elif kind == 4:
            yield "much text", GOOD_FILE + "# " + "x" * 2**23
        elif kind == 5:
            yield "many statements", GOOD_FILE + "R: * : * : * : * 2\n" * 20000 + "R: * : z 1\n"
        else:
            words = " ".join(lines).split(" ")
            place = int(rng.integers(len(words)))
            words[place] = odd[int(rng.integers(len(odd)))]
            text = GOOD_FILE.replace(GOOD_FILE.split()[min(place, 9)], words[place], 1)
            yield f"odd word {words[place][:9]!r}", text + "T: l : a : b -1\n"


def pomdp_files(rng, count):
    """Files that are not what they should be; none takes long to refuse."""
    texts = _pomdp_texts(rng)
    special = ("/dev/zero", "/dev/random", "folder", "pipe", "/proc/self/mem", "nowhere", "loop")
    for i in range(count):
        name, text = next(texts)
        if i < len(special):
            name, text = special[i], None

        def run(place, name=name, text=text):
            path = name
            if text is not None:
                path = "file.pomdp"
                (place / path).write_bytes(text.encode(errors="surrogateescape"))
            os.mkfifo(place / "pipe")
            (place / "folder").mkdir()
            (place / "loop").symlink_to("loop")
            ended = ran(command("theory", "states", f"pomdp:file={path}"), place, 40)
            if verdict(ended):
                return verdict(ended), f"{name}: {ended.said}"
            return (GOOD, "") if refused(ended) else (WRONG, f"{name}: {ended.said}")

        yield Fault("pomdp files", name, run)
