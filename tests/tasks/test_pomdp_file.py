import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.tasks import PomdpError, pomdp
from adastack.tasks.pomdp_file import parse_pomdp
from adastack.tasks.pomdp_task import to_task

HEAD = """
discount: 0.9
values: reward
states: a b c
actions: go stay
observations: x y
"""
FULL = "T: * identity\nO: * uniform\n"


def table(text, which="transition"):
    return getattr(parse_pomdp(HEAD + text), which)


# ---- what is shipped


def test_tiger_has_its_known_numbers():
    model = parse_pomdp((pomdp.__globals__["SHIPPED"] / "tiger.pomdp").read_text())
    listen, open_left, open_right = range(3)
    assert model.discount == 0.95
    assert model.states == ("tiger-left", "tiger-right")
    assert model.start.tolist() == [0.5, 0.5]
    assert (model.transition[listen] == np.eye(2)).all()
    assert (model.transition[open_left:] == 0.5).all()
    assert model.emission[listen].tolist() == [[0.85, 0.15], [0.15, 0.85]]
    assert (model.emission[open_left:] == 0.5).all()
    assert (model.reward[listen] == -1).all()
    assert (model.reward[open_left, 0] == -100).all()
    assert (model.reward[open_left, 1] == 10).all()
    assert (model.reward[open_right, 0] == 10).all()
    assert (model.reward[open_right, 1] == -100).all()


def test_tiger_as_a_task():
    task = pomdp("tiger")
    assert task.name == "pomdp:file=tiger"
    assert task.discount == 0.95
    assert task.continual
    assert not task.ends.any()
    assert task.observation_names == ("hear-left", "hear-right", "start")
    # Two doors, each before anything was heard and after either side was.
    assert task.n_states == 6
    assert (task.observation[task.start > 0] == 2).all()
    assert (task.observation[task.start == 0] < 2).all()


def test_the_tmaze_file_ends_where_it_goes_dark():
    task = pomdp("tmaze")
    assert not task.continual
    assert task.discount == 0.99
    enters = task.observation[task.next_state] == task.observation_names.index("dark")
    assert (task.ends == enters).all()
    assert task.success.sum() == 2


# ---- the forms of an entry


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T: go : a : b 1.0\nT: go : b : b 1\nT: go : c : c 1\nT: stay identity", [[0, 1, 0]]),
        ("T: * identity\nT: go : a\n0.25 0.5 0.25", [[0.25, 0.5, 0.25], [0, 1, 0]]),
        ("T: * identity\nT: 0 : 0 0 .5 5e-1", [[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]),
        ("T: stay identity T: go 0 1 0 0 0 1 1 0 0", [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        ("T: * uniform", [[1 / 3] * 3] * 3),
        ("T: * identity\nT: go : b uniform", [[1, 0, 0], [1 / 3] * 3, [0, 0, 1]]),
        ("T: * : * : c 1", [[0, 0, 1]] * 3),
        ("T: * uniform # all\nT: * identity # no, none", np.eye(3)),
        ("T:*:*\n0.2 0.3 0.5", [[0.2, 0.3, 0.5]] * 3),
        ("T: * identity\nT: * : * : * 0.0\nT: * : * : a 1", [[1, 0, 0]] * 3),
    ],
)
def test_forms_of_transitions(text, expected):
    expected = np.array(expected, float)
    actual = table(text + "\nO: * uniform")[0]
    assert actual[: len(expected)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("O: * uniform", [[0.5, 0.5]] * 3),
        ("O: * : * : y 1", [[0, 1]] * 3),
        ("O: * uniform O: go : b 0.1 0.9", [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]]),
        ("O: * uniform O: go 1 0 0 1 .5 .5", [[1, 0], [0, 1], [0.5, 0.5]]),
        ("O: * uniform O: go : c : x 1 O: go : c : y 0", [[0.5, 0.5], [0.5, 0.5], [1, 0]]),
        ("O: * 1 0 1 0 1 0 O: 0 : 2 uniform", [[1, 0], [1, 0], [0.5, 0.5]]),
    ],
)
def test_forms_of_observations(text, expected):
    assert table("T: * identity\n" + text, "emission")[0].tolist() == expected


def test_forms_of_rewards():
    reward = table(FULL + "R: * : * : * : * 1\nR: go : a : b : y -2.5\n", "reward")
    assert reward[0, 0, 1].tolist() == [1, -2.5]
    assert np.sort(reward, axis=None)[:2].tolist() == [-2.5, 1]
    assert table(FULL + "R: go : a : * 3 4", "reward")[0, 0].tolist() == [[3, 4]] * 3
    matrix = table(FULL + "R: stay : c\n1 2\n3 4\n5 +6", "reward")
    assert matrix[1, 2].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert matrix[0].max() == 0
    text = HEAD.replace("reward", "cost") + FULL + "R: * : * : * : x 2"
    assert parse_pomdp(text).reward[0, 0, 0].tolist() == [-2, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [1 / 3] * 3),
        ("start: uniform", [1 / 3] * 3),
        ("start: 0.5 0.25 0.25", [0.5, 0.25, 0.25]),
        ("start: b", [0, 1, 0]),
        ("start: 2", [0, 0, 1]),
        ("start include: a 2", [0.5, 0, 0.5]),
        ("start exclude: a", [0, 0.5, 0.5]),
    ],
)
def test_forms_of_the_start(text, expected):
    assert table(text + "\n" + FULL, "start") == pytest.approx(np.array(expected))


def test_a_single_state_starts_with_a_probability():
    text = "states: 1\nactions: 1\nobservations: 1\nstart: 1.0\nT: 0 1\nO: 0 1"
    assert parse_pomdp(text).start.tolist() == [1]


def test_the_preamble_in_any_order_with_counts_and_comments():
    text = "observations: 2 # two\nactions:\n go\n stay\nstates: 3\n# nothing\n" + FULL
    model = parse_pomdp(text)
    assert model.states == ("0", "1", "2")
    assert model.actions == ("go", "stay")
    assert model.discount is None


def test_files_may_round():
    rows = table("T: * : * 0.3333 0.3333 0.3333\nO: * uniform")
    assert rows.sum(axis=-1) == pytest.approx(1, abs=1e-15)


# ---- where attempts end


def test_reset_ends_the_attempt():
    task = to_task(parse_pomdp(HEAD + FULL + "start: a\nT: go : a : a 0\nT: go : a reset"), "t")
    assert not task.continual
    from_a = task.ends[:, 0]
    assert from_a.all()
    assert not task.ends[:, 1].any()


def test_an_absorbing_state_that_pays_ends_nothing():
    walk = "start: a\nT: * : a 0 1 0\nT: * : b 0 0 1\n"
    quiet = to_task(parse_pomdp(HEAD + FULL + walk), "quiet")
    assert not quiet.continual
    paid = to_task(parse_pomdp(HEAD + FULL + walk + "R: stay : c : * : x 1"), "paid")
    assert paid.continual
    elsewhere = to_task(parse_pomdp(HEAD + FULL + walk + "R: stay : b : * : x 1"), "elsewhere")
    assert not elsewhere.continual


# ---- what is malformed


MALFORMED = {
    "nonsense": ("hello", "line 1: expected a new entry .*, actual 'hello'"),
    "a strange character": (HEAD + "T: go $", r"line 7: expected .*, actual '\$'"),
    "no colon": ("states 3", "line 1: expected ':', actual '3'"),
    "cut short": (HEAD + "T: go :\n", "line 8: expected .*a name.*, actual the end"),
    "cut shorter": ("discount:", "line 1: expected a number, actual the end"),
    "no states": ("actions: 2\nobservations: 2", "expected a line 'states: ...', there is none"),
    "no observations": ("actions: 2\nstates: 2", "expected a line 'observations: ...'"),
    "twice": (HEAD + "\nactions: 2", "line 8: expected one 'actions:', actual a second"),
    "two starts": (HEAD + "start: a\nstart include: b", "line 8: expected one 'start'"),
    "same name": ("states: a b a", "line 1: expected different states, actual a twice"),
    "half a state": ("states: 2.5", "line 1: expected how many states there are, actual 2.5"),
    "no state at all": ("states: 0", "line 1: expected how many states there are, actual 0"),
    "discount": ("discount: 1.5", "line 1: expected a discount in 0..1, actual 1.5"),
    "values": ("values: money", "line 1: expected 'cost' or 'reward', actual 'money'"),
    "unknown state": (
        HEAD.replace("a b c", "left right stop") + "T: go : rihgt : stop 1",
        r"line 7: expected one of the states left, right, stop, actual rihgt \(did you mean right",
    ),
    "unknown action": (HEAD + "R: run : * : * : * 1", "line 7: expected one of the actions go, st"),
    "number too high": (HEAD + "T: go : 3 : a 1", "expected one of the states a, b, c, actual 3"),
    "number not whole": (HEAD + "T: go : 1.0 : a 1", "one of the states a, b, c, actual 1.0"),
    "row too short": (HEAD + "T: go : a\n0.5 0.5", "line 8: expected 3 numbers, actual 2"),
    "row too long": (HEAD + "O: go : a 1 0 0", "line 7: expected 2 numbers, actual 3"),
    "matrix too short": (HEAD + "T: go 1 0 0", "line 7: expected 9 numbers, actual 3"),
    "start too short": (HEAD + "start: 0.5 0.5", "line 7: expected 3 numbers, actual 2"),
    "start sum": (HEAD + "start: 0.5 0.25 0", "7: expected a start that sums to 1, actual 0.75"),
    "start empty": (HEAD + "start exclude: a b c", "line 7: expected a state to start in"),
    "colons in T": (HEAD + "T: go:a:b:x 1", "line 7: expected 1 to 3 of ':' in an entry of T"),
    "colons in R": (HEAD + "R: go 1", "line 7: expected 2 to 4 of ':' in an entry of R, actual 1"),
    "identity in O": (HEAD + "O: go identity", "line 7: expected numbers, actual 'identity'"),
    "identity in a row": (HEAD + "T: go : a identity", "expected numbers, actual 'identity'"),
    "uniform entry": (HEAD + "T: go : a : b uniform", "expected numbers, actual 'uniform'"),
    "uniform reward": (HEAD + "R: go : a uniform", "expected numbers, actual 'uniform'"),
    "reset in O": (HEAD + "O: go : a reset", "expected numbers, actual 'reset'"),
    "negative": (HEAD + "T: go : a 0.5 1 -0.5", "line 7: expected probabilities, actual -0.5"),
    "infinite": (
        HEAD + "R: go : a : b : x 1e999",
        "7: expected a finite number, actual 1e999",
    ),
    "row sum": (
        HEAD + FULL + "T: go : b : a 0.5",
        "line 9: expected T of action go, state b to sum to 1, actual 1.5",
    ),
    "row missing": (HEAD + "T: * identity", "pomdp: expected O of action go, state a to sum to 1"),
    "too large": ("states: 3000\nactions: 2\nobservations: 2", "at most .* actual 36,000,000"),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_what_is_malformed_is_named_in_one_line(kind):
    text, message = MALFORMED[kind]
    with pytest.raises(PomdpError, match=message) as caught:
        parse_pomdp(text)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(
        PomdpError, match=r"expected a \.pomdp file or one of tiger, tmaze, actual no"
    ):
        pomdp("nowhere.pomdp")
    with pytest.raises(PomdpError, match=r"actual .*: Is a directory"):
        pomdp(tmp_path)
    (tmp_path / "bytes.pomdp").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PomdpError, match="expected text"):
        pomdp(tmp_path / "bytes.pomdp")
    (tmp_path / "bad.pomdp").write_text("states: 2\nactions 2")
    with pytest.raises(PomdpError, match=r"bad\.pomdp, line 2: expected ':', actual '2'"):
        pomdp(tmp_path / "bad.pomdp")


# ---- random models, written in random forms and read again


class Writer:
    """Writes a model as text, choosing among the forms the format has."""

    def __init__(self, model, seed):
        self.model, self.rng = model, random.Random(seed)
        self.named = {
            kind: self.rng.random() < 0.5 for kind in ("states", "actions", "observations")
        }
        self.names = {
            kind: [f"{kind}-{i}" if self.named[kind] else str(i) for i in range(count)]
            for kind, count in zip(self.named, model["reward"].shape[1::-1], strict=False)
        }
        self.names["observations"] = [
            f"o_{i}" if self.named["observations"] else str(i)
            for i in range(model["reward"].shape[3])
        ]

    def ref(self, kind, place):
        return self.rng.choice([self.names[kind][place], str(place)])

    def numbers(self, values):
        words = [repr(float(value)) for value in np.ravel(values)]
        return self.rng.choice([" ", "\n", "  # and\n"]).join(words)

    def listing(self, kind):
        names = self.names[kind]
        return f"{kind}: {' '.join(names) if self.named[kind] else len(names)}"

    def distribution(self, letter, array, last):
        """T or O, action by action: as a matrix, or state by state."""
        lines = []
        for action, matrix in enumerate(array):
            head = f"{letter}: {self.ref('actions', action)}"
            if self.rng.random() < 0.3:
                lines.append(f"{head}\n{self.numbers(matrix)}")
                continue
            if self.rng.random() < 0.3:
                lines.append(f"{head} uniform")
            for state, row in enumerate(matrix):
                lines += self.row(f"{head} : {self.ref('states', state)}", row, last)
        return lines

    def row(self, head, row, last):
        if self.rng.random() < 0.5:
            return [f"{head} {self.numbers(row)}"]
        return [f"{head}:{self.ref(last, i)} {value!r}" for i, value in enumerate(row.tolist())]

    def rewards(self, array):
        lines = ["R: * : * : * : * 7.5"]
        for action in range(array.shape[0]):
            for state in range(array.shape[1]):
                head = f"R: {self.ref('actions', action)} : {self.ref('states', state)}"
                if self.rng.random() < 0.4:
                    lines.append(f"{head} {self.numbers(array[action, state])}")
                    continue
                for after in range(array.shape[2]):
                    row = array[action, state, after]
                    lines += self.row(f"{head} : {self.ref('states', after)}", row, "observations")
        return lines

    def text(self):
        preamble = [self.listing(kind) for kind in self.names] + ["discount: 0.5"]
        self.rng.shuffle(preamble)
        tables = [
            *self.distribution("T", self.model["transition"], "states"),
            *self.distribution("O", self.model["emission"], "observations"),
            *self.rewards(self.model["reward"]),
        ]
        return "\n".join([*preamble, f"start: {self.numbers(self.model['start'])}", *tables])


def random_model(seed, n_states, n_actions, n_observations):
    rng = np.random.default_rng(seed)

    def rows(shape, width):
        probability = rng.dirichlet(np.ones(width), shape)
        sure = rng.random(shape) < 0.5
        probability[sure] = np.eye(width)[rng.integers(width, size=sure.sum())]
        return probability

    return {
        "start": rng.dirichlet(np.ones(n_states)),
        "transition": rows((n_actions, n_states), n_states),
        "emission": rows((n_actions, n_states), n_observations),
        "reward": rng.integers(-3, 4, size=(n_actions, n_states, n_states, n_observations)) / 4,
    }


SIZES = st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), SIZES)
def test_a_model_is_read_as_it_was_written(seed, sizes):
    model = random_model(seed, *sizes)
    read = parse_pomdp(Writer(model, seed).text())
    for name, array in model.items():
        assert getattr(read, name) == pytest.approx(array, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), SIZES)
def test_a_task_does_what_the_model_says(seed, sizes):
    """Each (state, last observation) has the model's outcomes, and nothing is missing or more."""
    model = random_model(seed, *sizes)
    n_states, n_actions, n_observations = sizes
    read = parse_pomdp(Writer(model, seed).text())
    task = to_task(read, "random")

    # A task's state is known by the observation it shows and where it leads, up to twins that
    # behave alike; so the walk through both begins at the starts and keeps pairs together.
    starts = np.flatnonzero(task.start)
    assert task.start[starts] == pytest.approx(model["start"][model["start"] > 0])
    hidden = dict(zip(starts.tolist(), np.flatnonzero(model["start"]).tolist(), strict=True))
    todo = list(hidden)
    while todo:
        pair = todo.pop()
        for action in range(n_actions):
            expected = Counter()
            for after in range(n_states):
                for seen in range(n_observations):
                    p = (
                        model["transition"][action, hidden[pair], after]
                        * model["emission"][action, after, seen]
                    )
                    if p > 0:
                        reward = model["reward"][action, hidden[pair], after, seen]
                        expected[after, seen, reward, round(p, 9)] += 1
            found = []
            for outcome in np.flatnonzero(task.probability[pair, action]):
                at = (pair, action, outcome)
                found.append((int(task.next_state[at]), task.reward[at], task.probability[at]))
            assert len(found) == sum(expected.values())
            # Outcomes come in the order of (next state, observation).
            for (state, reward, p), key in zip(found, sorted(expected), strict=True):
                after, seen, expected_reward, expected_p = key
                assert task.observation[state] == seen
                assert reward == expected_reward
                assert p == pytest.approx(expected_p, abs=1e-8)
                if state in hidden:
                    assert hidden[state] == after
                else:
                    hidden[state] = after
                    todo.append(state)
    assert set(hidden) == set(range(task.n_states))
