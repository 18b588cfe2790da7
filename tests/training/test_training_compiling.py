"""Programs compiled in the background are those that training uses, and failures are not swallowed."""

import logging

import jax
import numpy as np
import pytest

from unmet.estimators import CensoredQuantileRegressor
from unmet.training import _compiling

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 2)), RNG.normal(size=40)
# Settings of no other test, so that nothing is compiled yet in this process.
SETTINGS = {"head": "free", "max_epochs": 3, "fit_intercept": False, "schedule": "constant"}


@pytest.fixture
def cores(monkeypatch):
    def choose(count):
        monkeypatch.setattr(_compiling, "available_cores", lambda: count)
        _compiling.compile_ahead.__wrapped__.cache_clear()

    yield choose
    _compiling.compile_ahead.__wrapped__.cache_clear()


def fitted(**settings):
    return CensoredQuantileRegressor(quantiles=(0.3, 0.7), **{**SETTINGS, **settings}).fit(X, Y)


def specs(monkeypatch):
    seen = []
    real = _compiling.compile_ahead
    monkeypatch.setattr("unmet.training._trainer.compile_ahead", lambda spec: (seen.append(spec), real(spec)))
    return seen


def test_each_function_is_compiled_once_and_off_the_main_thread(cores, monkeypatch, caplog):
    cores(2)
    seen = specs(monkeypatch)
    jax.config.update("jax_log_compiles", True)  # in all threads, which `jax.log_compiles` is not
    try:
        with caplog.at_level(logging.WARNING):
            fitted(hidden=(3, 5), network="mlp")
    finally:
        jax.config.update("jax_log_compiles", False)
    compiled = [r for r in caplog.records if "Finished XLA compilation" in r.getMessage()]
    for name in ("jit(start)", "jit(advance)"):
        mine = [record for record in compiled if name in record.getMessage()]
        assert len(mine) == 1
        assert mine[0].threadName.startswith("unmet-compile")
    assert len(seen) == 1
    assert all(future.done() for future in _compiling.compile_ahead(seen[0]))


def test_one_core_compiles_nothing_ahead_and_gives_the_same_bits(cores, monkeypatch):
    cores(2)
    ahead = fitted().predict(X)
    cores(1)
    seen = specs(monkeypatch)
    assert np.array_equal(fitted().predict(X), ahead)
    assert _compiling.compile_ahead(seen[0]) == ()


def test_what_fails_in_the_background_is_raised(cores):
    def builder(*arguments):
        raise RuntimeError("no such network")

    cores(2)
    with pytest.raises(RuntimeError, match="no such network"):
        fitted(network=builder)
