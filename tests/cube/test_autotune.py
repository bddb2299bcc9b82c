"""Autotuning: search spaces, timing with a made-up clock, winners and whom they are for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from firebrick.cube.autotune import (
    Configuration,
    Key,
    Sampling,
    Space,
    Tuner,
    default_key,
)
from firebrick.cube.cache import KernelCache
from firebrick.errors import KernelCompileError, KernelError

Array = np.ndarray[Any, np.dtype[Any]]
WATCHDOG_S = 60.0


def bench(
    seconds: dict[int, float],
    *,
    cache: KernelCache | None = None,
    mutable: list[int] | None = None,
    fails: dict[int, Exception] | None = None,
    key: Callable[..., Key] = default_key,
    name: str = "doubled",
    sampling: Sampling | None = None,
) -> Bench:
    """A tuner of an in-place `x *= 2`, whose candidate `speed` takes the seconds given for it."""
    clock = Clock()
    runs: list[int] = []

    def build(c: Configuration) -> Callable[[Array], None]:
        speed = c["speed"]

        def doubled(x: Array) -> None:
            runs.append(speed)
            clock.now_s += seconds[speed]
            if fails and speed in fails:
                raise fails[speed]
            x *= 2

        return doubled

    space = Space(speed=seconds)
    tuner = Tuner(
        name,
        space,
        build,
        key,
        mutable=mutable,
        cache=cache or KernelCache(),
        clock=lambda: clock.now_s,
        sampling=sampling,
    )
    return Bench(tuner, runs)


@dataclass
class Clock:
    """Stands still unless a candidate moves it."""

    now_s: float = 0.0


@dataclass
class Bench:
    """A tuner, and which candidates ran."""

    tuner: Tuner[None, Array]
    runs: list[int] = field(default_factory=list[int])


@pytest.fixture(autouse=True)
def default_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the developer has set."""
    monkeypatch.delenv("FIREBRICK_AUTOTUNE_LEVEL", raising=False)


# ---- the user's data --------------------------------------------------------------------------


def test_an_in_place_candidate_runs_once_on_the_user_s_data() -> None:
    made = bench({1: 0.3, 2: 0.1, 3: 0.2})
    x = np.array([1.0, 3.0])
    made.tuner(x)
    assert x.tolist() == [2.0, 6.0]
    made.tuner(x)
    assert x.tolist() == [4.0, 12.0]


def test_asking_what_would_run_does_not_touch_the_data() -> None:
    made = bench({1: 0.3, 2: 0.1})
    x = np.ones(3)
    assert made.tuner.tuning(x).winner.name == "speed=2"
    assert x.tolist() == [1.0, 1.0, 1.0]


class Pair(NamedTuple):
    """Two tensors that go together."""

    first: Array
    second: Array


@dataclass(frozen=True)
class Layer:
    """A struct of tensors."""

    weight: Array
    rest: list[Array]
    factor: float


def test_tensors_inside_structs_and_tuples_are_copied_too() -> None:
    weight, inner, first, second = (np.full(2, float(n)) for n in range(4))
    given = (Layer(weight, [inner], 2.0), Pair(first, second))

    def build(c: Configuration) -> Callable[[Layer, Pair], None]:
        def run(layer: Layer, pair: Pair) -> None:
            for array in (layer.weight, layer.rest[0], pair.first, pair.second):
                array += layer.factor

        return run

    tuner = Tuner("structs", Space(way=("a", "b")), build, default_key, cache=KernelCache())
    tuner(*given)
    found = [array.tolist() for array in (weight, inner, first, second)]
    assert found == [[2.0] * 2, [3.0] * 2, [4.0] * 2, [5.0] * 2]


def test_only_what_is_declared_written_is_copied_and_aliases_stay_aliases() -> None:
    seen: list[tuple[Array, ...]] = []

    def build(c: Configuration) -> Callable[[Array, Array, Array], None]:
        def run(x: Array, out: Array, again: Array) -> None:
            seen.append((x, out, again))
            out += x

        return run

    x, out = np.ones(2), np.zeros(2)
    cache = KernelCache()
    tuner = Tuner("alias", Space(n=(1, 2)), build, default_key, mutable=[1], cache=cache)
    tuner(x, out, out)
    assert out.tolist() == [1.0, 1.0]
    assert all(given[0] is x for given in seen)
    assert all(given[1] is given[2] for given in seen)
    assert [given[1] is out for given in seen] == [False] * (len(seen) - 1) + [True]


def test_a_position_that_a_call_does_not_have_is_named() -> None:
    made = bench({1: 0.1, 2: 0.2}, mutable=[2])
    with pytest.raises(KernelError, match="`doubled` is declared to write argument 2; got 1 of"):
        made.tuner(np.ones(2))


# ---- who wins ---------------------------------------------------------------------------------


def test_the_fastest_candidate_wins_and_its_time_is_reported() -> None:
    made = bench({1: 0.3, 2: 0.1, 3: 0.15})
    tuning = made.tuner.tuning(np.ones(2))
    assert tuning.winner["speed"] == 2
    assert tuning.seconds == pytest.approx({"speed=1": 0.3, "speed=2": 0.1, "speed=3": 0.15})
    assert tuning.failures == {}


def test_a_later_call_of_the_kind_runs_the_winner_only() -> None:
    made = bench({1: 0.3, 2: 0.1})
    made.tuner(np.ones(2))
    made.runs.clear()
    made.tuner(np.ones(2))
    assert made.runs == [2]


def test_a_single_outlier_does_not_decide() -> None:
    clock = Clock()
    runs = 0

    def build(c: Configuration) -> Callable[[], None]:
        def run() -> None:
            nonlocal runs
            runs += 1
            # The better candidate is disturbed in one of its samples.
            clock.now_s += 0.1 if c["n"] == 1 else (5.0 if runs == 5 else 0.08)

        return run

    tuner = Tuner(
        "outlier",
        Space(n=(2, 1)),
        build,
        default_key,
        cache=KernelCache(),
        clock=lambda: clock.now_s,
    )
    assert tuner.tuning().winner["n"] == 2


def test_a_hopeless_candidate_is_given_up_early() -> None:
    made = bench({1: 0.1, 2: 0.5}, sampling=Sampling(samples=9))
    made.tuner.tuning(np.ones(2))
    assert made.runs.count(1) == 11
    assert made.runs.count(2) == 2  # warm-up and one measured run


def test_a_candidate_that_turns_hopeless_in_a_sample_is_given_up_there() -> None:
    made = bench({1: 0.00001, 2: 0.00006}, sampling=Sampling(samples=9))
    made.tuner.tuning(np.ones(2))
    assert made.runs.count(2) == 2 + 4  # one sample of four runs


def test_quick_candidates_run_several_times_in_a_sample() -> None:
    made = bench({1: 0.00001, 2: 0.000011}, sampling=Sampling(samples=3, most_repeats=8))
    made.tuner.tuning(np.ones(2))
    assert made.runs.count(1) == made.runs.count(2) == 2 + 3 * 8


def test_a_clock_that_stands_still_is_survived() -> None:
    made = bench({1: 0.0, 2: 0.0})
    assert made.tuner.tuning(np.ones(2)).winner["speed"] == 1


# ---- candidates that do not work --------------------------------------------------------------


def test_a_candidate_that_fails_is_left_out_and_its_reason_kept() -> None:
    made = bench({1: 0.1, 2: 0.2}, fails={1: KernelCompileError("too clever\nsecond line")})
    x = np.ones(2)
    made.tuner(x)
    assert x.tolist() == [2.0, 2.0]
    tuning = made.tuner.tuning(x)
    assert tuning.winner["speed"] == 2
    assert tuning.failures == {"speed=1": "KernelCompileError: too clever"}


def test_if_all_candidates_fail_the_error_lists_the_reasons_and_the_next_call_tries_again() -> None:
    fails: dict[int, Exception] = {1: ValueError("no"), 2: KernelCompileError()}
    made = bench({1: 0.1, 2: 0.2}, fails=fails)
    x = np.ones(2)
    expected = (
        r"none of the 2 configurations of `doubled` works here:\n"
        r"  speed=1: ValueError: no\n  speed=2: KernelCompileError$"
    )
    with pytest.raises(KernelError, match=expected):
        made.tuner(x)
    assert x.tolist() == [1.0, 1.0]
    del fails[2]
    made.tuner(x)
    assert x.tolist() == [2.0, 2.0]


def test_a_long_list_of_reasons_is_cut() -> None:
    speeds = range(1, 21)
    made = bench(dict.fromkeys(speeds, 0.1), fails={n: ValueError("no") for n in speeds})
    with pytest.raises(KernelError, match=r"none of the 20 (.*\n)+  and 8 more$"):
        made.tuner(np.ones(2))


def test_an_interrupt_is_no_failure_of_a_candidate() -> None:
    def build(c: Configuration) -> Callable[[], None]:
        def run() -> None:
            raise KeyboardInterrupt

        return run

    tuner = Tuner("interrupted", Space(n=(1, 2)), build, default_key, cache=KernelCache())
    with pytest.raises(KeyboardInterrupt):
        tuner()


def test_a_space_in_which_nothing_is_left_is_an_error() -> None:
    space = Space(n=(1, 2)).where(lambda c: False)
    tuner = Tuner("empty", space, lambda c: lambda: None, default_key, cache=KernelCache())
    with pytest.raises(KernelError, match="no configuration of `empty` meets the conditions"):
        tuner()


# ---- whom a winner is for ---------------------------------------------------------------------


def test_similar_calls_share_a_winner_and_others_are_timed_themselves() -> None:
    made = bench({1: 0.3, 2: 0.1})
    made.tuner(np.ones(100))
    made.runs.clear()
    made.tuner(np.ones(128))
    assert made.runs == [2]
    made.tuner(np.ones(129))
    assert len(made.runs) > 2


def test_a_key_of_other_values_is_refused() -> None:
    def key(x: Array) -> Any:
        return (1, object())

    made = bench({1: 0.1, 2: 0.2}, key=key)
    with pytest.raises(KernelError, match="a key of autotuning is made of numbers, strings, None"):
        made.tuner(np.ones(2))


def test_with_the_level_off_nothing_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIREBRICK_AUTOTUNE_LEVEL", "off")
    made = bench({1: 0.3, 2: 0.1})
    made.tuner(np.ones(2))
    assert made.runs == [1]


# ---- where winners are kept -------------------------------------------------------------------


def test_winners_outlive_the_process(tmp_path: Path) -> None:
    bench({1: 0.3, 2: 0.1}, cache=KernelCache(tmp_path)).tuner(np.ones(2))
    later = bench({1: 0.3, 2: 0.1}, cache=KernelCache(tmp_path))
    later.tuner(np.ones(2))
    assert later.runs == [2]
    assert later.tuner.tuning(np.ones(2)).seconds.keys() == {"speed=1", "speed=2"}


def test_another_space_name_or_level_is_timed_afresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = KernelCache(tmp_path)
    bench({1: 0.3, 2: 0.1}, cache=cache).tuner(np.ones(2))
    for made in (
        bench({1: 0.3, 2: 0.1, 3: 0.05}, cache=cache),
        bench({1: 0.3, 2: 0.1}, cache=cache, name="another"),
    ):
        made.tuner(np.ones(2))
        assert len(made.runs) > 1
    monkeypatch.setenv("FIREBRICK_AUTOTUNE_LEVEL", "full")
    made = bench({1: 0.3, 2: 0.1}, cache=cache)
    made.tuner(np.ones(2))
    assert len(made.runs) > 1


def test_forgetting_drops_what_is_in_memory(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    made = bench({1: 0.3, 2: 0.1}, cache=cache)
    made.tuner(np.ones(2))
    made.tuner.forget()
    cache.clear()
    made.runs.clear()
    made.tuner(np.ones(2))
    assert len(made.runs) > 1


def test_a_single_candidate_is_not_timed() -> None:
    made = bench({1: 0.3})
    made.tuner(np.ones(2))
    assert made.runs == [1]


def test_threads_that_call_at_once_tune_once_and_none_hangs(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    together = threading.Barrier(4)
    errors: list[BaseException] = []
    rounds = [bench({1: 0.3, 2: 0.1, 3: 0.2}, cache=cache, name=str(n)) for n in range(200)]

    def work() -> None:
        try:
            for made in rounds:
                x = np.ones(2)
                together.wait(WATCHDOG_S)
                made.tuner(x)
                assert x.tolist() == [2.0, 2.0]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG_S)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []
    assert cache.info().builds == 200
