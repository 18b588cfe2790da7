"""The comparison as a whole: which methods apply, which one wins, what is kept, what is refused."""

import warnings

import numpy as np
import pytest

import unmet
from unmet.censoring import observe
from unmet.comparison import METHODS, Comparison, Line, why_not
from unmet.comparison import _compare as module
from unmet.comparison._comparison import number, pair
from unmet.comparison._folds import Task, predict_held
from unmet.comparison._measures import Measures
from unmet.comparison._methods import Method
from unmet.comparison._recommend import recommend

QUICK = ("Kaplan–Meier", "Portnoy")


def rows(n=200, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    latent, cut = 2 * x + random.normal(size=n), 1.5 + random.normal(size=n)
    return {"x": x, "noise": random.normal(size=n)}, np.minimum(latent, cut), cut, latent > cut


def test_a_method_that_uses_the_columns_wins():
    X, y, _, flags = rows()
    found = unmet.compare(X, y, censored=flags, methods=QUICK, folds=3)
    assert found.recommended == "Portnoy"
    assert found.recommendation.startswith("Use LinearCensoredQuantiles(method='portnoy')")
    assert [line.method for line in found.lines] == ["Portnoy", "Kaplan–Meier"]
    assert found.lines[1].above_best > 3 * found.lines[1].error
    assert found.frame("polars").height == 2
    assert found.to_dict()["lines"][0]["method"] == "Portnoy"


def test_the_pasted_fit_is_the_one_that_was_compared():
    X, y, _, flags = rows()
    table = {"value": -y, "nondetect": flags, **X}
    found = unmet.compare(table, "value", censored="nondetect", side="left", methods=["Tobit"], folds=2)
    assert found.lines[0].code == "TobitRegressor(side='left')"
    assert "TobitRegressor(side='left')" in found.recommendation
    names: dict = {"table": table}
    exec(found.code, names)
    assert names["model"].side == "left"
    assert names["model"].predict_quantiles(names["X"]).shape == (200, 3)


def test_events_are_the_opposite_of_flags():
    X, y, _, flags = rows()
    one = unmet.compare(X, y, censored=flags, methods=QUICK, folds=2)
    words = np.where(flags, "No", "Yes").astype(object)
    other = unmet.compare({**X, "seen": words}, y, event="seen", methods=QUICK, folds=2)
    assert [line.loss for line in other.lines] == [line.loss for line in one.lines]
    assert 'censored=table["seen"].isin(["No"])' in other.code
    with pytest.raises(ValueError, match="event= and censored= say the same: give one"):
        unmet.compare(X, y, censored=flags, event=~flags)


def test_columns_without_information_are_told():
    _, y, _, flags = rows()
    noise = {"noise": np.random.default_rng(9).normal(size=len(y))}
    found = unmet.compare(noise, y, censored=flags, methods=QUICK, folds=3)
    assert found.recommended == "Kaplan–Meier"
    assert "columns tell nothing" in found.recommendation


def test_names_of_columns_stand_for_them():
    X, y, cut, _ = rows()
    one = unmet.compare(X, y, threshold=cut, methods=QUICK, folds=2)
    table = {**X, "sold": y, "stock": cut}
    other = unmet.compare(table, "sold", threshold="stock", methods=QUICK, folds=2)
    assert other.columns == one.columns == ("x", "noise")
    assert [line.loss for line in other.lines] == [line.loss for line in one.lines]


def test_large_tables_are_drawn_from():
    X, y, _, flags = rows()
    found = unmet.compare(X, y, censored=flags, methods=QUICK, folds=2, max_rows=100)
    assert found.rows == 100
    assert "100 of 200" in found.notes[0]


def test_finished_fits_are_not_made_again(tmp_path, monkeypatch):
    X, y, _, flags = rows()
    asked = {"censored": flags, "methods": QUICK, "folds": 2, "output": tmp_path / "out"}
    one = unmet.compare(X, y, **asked)
    made = []

    def spy(task):
        made.append(task.method.name)
        return module.predict_held.__wrapped__(task)

    spy.__wrapped__ = module.predict_held
    monkeypatch.setattr(module, "predict_held", spy)
    again = unmet.compare(X, y, **asked)
    assert made == []
    assert again == one
    with pytest.raises(ValueError, match="holds another run"):
        unmet.compare(X, y + 1, **asked)
    assert unmet.compare(X, y + 1, replace=True, **{**asked, "methods": ["Kaplan–Meier"]}).lines


@pytest.mark.parametrize(
    ("told", "left_out"),
    [
        ({"threshold": 1.0}, {"inverse weights"}),
        ({"censored": np.arange(60) % 3 == 0}, {"Powell", "Bayes, Powell"}),
        ({}, {"Peng–Huang", "Powell", "Wang–Wang", "inverse weights", "Bayes, Powell", "Bayes, augmented"}),
        (
            {"lower": np.arange(60.0), "upper": np.arange(60.0) + 1},
            {m.name for m in METHODS}
            - {
                "Kaplan–Meier",
                "Tobit",
                "Tobit, skewed",
                "default",
                "MLP",
                "kernel",
                "Gaussian process",
                "Bayes, augmented",
            },
        ),
    ],
)
def test_every_method_that_does_not_apply_says_why(told, left_out):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = None if "lower" in told else np.minimum(np.linspace(-2, 2, 60), 1.0)
    reasons = {method.name: why_not(method, X, observe(y, **told)) for method in METHODS}
    assert {name for name, reason in reasons.items() if reason} == left_out


def test_a_known_floor_and_cap_leave_out_what_needs_one_side():
    X = np.random.default_rng(0).normal(size=(60, 2))
    seen = observe(np.clip(X[:, 0], -1, 1), threshold=(-1.0, 1.0), side="both")
    left_out = {method.name for method in METHODS if why_not(method, X, seen)}
    assert left_out == {"Portnoy", "Peng–Huang", "Wang–Wang", "inverse weights", "local linear", "forest"}


def test_the_line_of_all_rows_says_what_it_was():
    X, y, _, flags = rows(80)
    open_above, open_below = np.where(flags, np.inf, y), np.where(np.arange(80) % 7 == 0, -np.inf, y)
    asked = {"methods": ["Kaplan–Meier"], "folds": 2}
    called = [
        unmet.compare(X, lower=y, upper=open_above, **asked),
        unmet.compare(X, lower=open_below, upper=open_above, **asked),
        unmet.compare(X, np.clip(y, -1, 1), threshold=(-1.0, 1.0), side="both", **asked),
    ]
    assert [found.lines[0].code.rpartition(".")[2] for found in called] == [
        "kaplan_meier",
        "turnbull",
        "turnbull",
    ]


def test_wide_tables_and_many_rows_leave_out_two_linear_methods():
    random = np.random.default_rng(0)
    X = random.normal(size=(10_100, 4))
    reasons = {m.name: why_not(m, X, observe(X[:, 0], threshold=1 + X.max())) for m in METHODS}
    assert "4" in reasons["Wang–Wang"]
    assert "10,000" in reasons["Powell"]
    assert "10,000" in reasons["Bayes, Powell"]
    assert "4" in reasons["local linear"]


def test_intervals_are_compared_by_log_score():
    X, y, _, _ = rows(120)
    low = np.floor(y)
    found = unmet.compare(X, lower=low, upper=low + 1, methods=["Tobit"], folds=2)
    assert found.loss_name == "log score"
    assert "100% of them known to an interval" in str(found)
    assert "Loss: log score, from 11 quantiles" in str(found)
    assert found.recommendation == "Use TobitRegressor(): you asked for no other method."


def test_one_method_alone_is_told_for_what_it_is():
    X, y, cut, flags = rows(120)
    found = unmet.compare(X, y, threshold=cut, methods="Kaplan–Meier", folds=2)
    assert found.recommendation.startswith("Only Kaplan–Meier was compared, which does not use the columns")
    found = unmet.compare(X, y, censored=flags, methods="Portnoy, Powell", folds=2)
    assert "no other method that you asked for applies" in found.recommendation
    assert "no other method applies" in recommend([line("Tobit", 1, 0, 0)], scores(Tobit=1.0))[1]


def test_a_function_hears_of_each_finished_method(tmp_path):
    X, y, _, flags = rows(120)
    told: list[str] = []
    asked = {
        "censored": flags,
        "methods": QUICK,
        "folds": 2,
        "output": tmp_path / "out",
        "progress": told.append,
    }
    unmet.compare(X, y, **asked)
    assert told == ["Kaplan–Meier is finished, 1 of 2", "Portnoy is finished, 2 of 2"]
    told.clear()
    unmet.compare(X, y, **asked)
    assert told == ["Kaplan–Meier was kept from before, 1 of 2", "Portnoy was kept from before, 2 of 2"]
    told.clear()
    next((tmp_path / "out" / "fits").glob("Portnoy-*")).unlink()
    unmet.compare(X, y, **asked)
    assert told == ["Kaplan–Meier was kept from before, 1 of 2", "Portnoy is finished, 2 of 2"]


def line(name, loss, above, error, note=""):
    return Line(name, f"{name}()", loss, above, error, 1.0, None, None, None, 0, 0.1, note)


def scores(noise=0.0, **means):
    rest = (None, None, None, 0)
    spread = np.linspace(-1, 1, 100)
    found = {}
    for place, (name, mean) in enumerate(means.items()):
        measures = Measures(spread, mean + noise * np.roll(spread, place), *rest)
        found[Method(name, "X")] = (measures, 0.1, "")
    return found


def test_the_simplest_within_one_standard_error_is_recommended():
    lines = [line("MLP", 0.40, 0.0, 0.0), line("Tobit", 0.41, 0.01, 0.02), line("forest", 0.5, 0.1, 0.02)]
    name, words = recommend(lines, scores(MLP=1.0, Tobit=1.0, forest=1.0))
    assert name == "Tobit"
    assert "one standard error (0.0200)" in words
    lines[1] = line("Tobit", 0.43, 0.03, 0.02)
    assert recommend(lines, scores(MLP=1.0, Tobit=1.0, forest=1.0))[0] == "MLP"


def test_a_simple_method_that_the_log_score_rejects_is_not_recommended():
    lines = [line("MLP", 0.40, 0.0, 0.0), line("Tobit", 0.41, 0.01, 0.02), line("forest", 0.41, 0.01, 0.02)]
    name, words = recommend(lines, scores(MLP=1.0, Tobit=1.5, forest=1.0))
    assert name == "forest"
    assert "the simplest such method that the log score does not reject. Tobit is simpler, but" in words
    assert "not clear" not in words
    # Within two standard errors nothing is rejected.
    assert recommend(lines, scores(noise=3.0, MLP=1.0, Tobit=1.01, forest=1.0))[0] == "Tobit"
    # A method that is not close rejects none, though its log score is told.
    lines[2] = line("forest", 0.5, 0.1, 0.02)
    name, words = recommend(lines, scores(MLP=1.5, Tobit=1.5, forest=1.0))
    assert name == "Tobit"
    assert "log score prefers forest" in words


def test_the_lowest_loss_stands_if_the_log_score_rejects_all_simpler_ones():
    lines = [line("MLP", 0.40, 0.0, 0.0), line("Tobit", 0.40, 0.0, 0.02), line("forest", 0.41, 0.01, 0.02)]
    name, words = recommend(lines, scores(MLP=1.0, Tobit=1.5, forest=1.4))
    assert name == "MLP"
    assert "of the 3 methods within one standard error it is the simplest that the log score" in words
    lines = [line("MLP", 0.40, 0.0, 0.0), line("Kaplan–Meier", 0.40, 0.0, 0.02)]
    assert recommend(lines, scores(**{"MLP": 1.0, "Kaplan–Meier": 1.5}))[0] == "MLP"


def test_a_weighted_loss_does_not_overrule_the_log_score():
    lines = [line("ipcw", 0.40, 0.0, 0.0), line("MLP", 0.5, 0.1, 0.02), line("Tobit", 0.6, 0.2, 0.02)]
    found = scores(ipcw=2.0, MLP=1.0, Tobit=1.5)
    assert recommend(lines, found)[0] == "ipcw"
    name, words = recommend(lines, found, weighted=True)
    assert name == "MLP"
    assert words.endswith(
        " ipcw has a lower loss, 0.400, but a worse log score, by 1.00 (standard error 0): the weights of "
        "the loss are wrong if cuts follow the columns."
    )
    # A method that leaves quantiles open rejects none.
    lines[1] = line("MLP", 0.5, 0.1, 0.02, "quantiles above 0.8 are lost")
    assert recommend(lines, scores(ipcw=1.2, MLP=1.0, Tobit=1.5), weighted=True)[0] == "ipcw"


def test_losses_that_differ_look_different():
    assert pair(1.0512, 1.0468) == ("1.0512", "1.0468")
    assert pair(12345.6, 12345.6) == ("12,346", "12,346")
    assert pair(0.41, 0.40) == ("0.410", "0.400")
    assert pair(1234.0, 1000.0) == ("1,234", "1,000")


def test_a_comparison_prints_in_a_few_lines():
    X, y, cut, _ = rows()
    text = str(unmet.compare({**X, "stock": cut}, y, threshold="stock", methods=QUICK, folds=2))
    assert len(text.splitlines()) == 13
    assert "censored tilted loss, mean over 11 quantiles" in text
    assert text.splitlines()[1].startswith("  Portnoy       0.")
    assert text.endswith('\nmodel.fit(X, y, threshold=table["stock"])\nprint(model.predict_quantiles(X))')


def test_a_method_that_leaves_quantiles_open_yields_to_one_that_does_not():
    lines = [line("MLP", 0.40, 0.0, 0.0), line("Portnoy", 0.40, 0.0, 0.0, "quantiles above 0.8 are lost")]
    name, words = recommend(lines, scores(MLP=1.0, Portnoy=1.0))
    assert name == "MLP"
    assert words.endswith(
        "of the 2 methods within one standard error it is the simplest whose fit does not warn. Portnoy "
        "comes as close, but quantiles above 0.8 are lost."
    )
    # Who is neither simpler nor best is not named.
    lines = [line("Tobit", 0.40, 0.0, 0.0), line("forest", 0.40, 0.0, 0.0, "quantiles above 0.8 are lost")]
    assert recommend(lines, scores(Tobit=1.0, forest=1.0))[1].endswith("it is the simplest.")


def test_a_fit_that_warns_of_itself_is_noted(monkeypatch):
    class Wandering:
        def fit(self, X, **told):
            warnings.warn("the chains have not settled: largest R̂ 1.16", UserWarning, stacklevel=2)

        def predict_quantiles(self, X, levels):
            return np.zeros((len(X), len(levels)))

    monkeypatch.setattr(Method, "make", lambda *_: Wandering())
    told = {"y": np.zeros(4), "censored": np.zeros(4, bool)}
    held = predict_held(Task(Method("X", "X"), np.zeros((4, 1)), told, np.arange(4) > 2, (0.5,), "right", 0))
    assert held.warning == "the chains have not settled"


def test_a_clear_second_opinion_is_told():
    lines = [line("Tobit", 0.40, 0.0, 0.0), line("MLP", 0.5, 0.1, 0.02)]
    assert "log score prefers MLP" in recommend(lines, scores(Tobit=2.0, MLP=1.0))[1]


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0"), (1234.5, "1,234"), (0.01234, "0.0123"), (1e-9, "1.00e-09"), (12.34, "12.3")],
)
def test_numbers_are_readable(value, words):
    assert number(value) == words


def test_a_column_has_one_notation():
    lines = [line("Tobit", 0.01, 0, 0), line("MLP", 0.0101, 5.12e-5, 1.5e-4), line("forest", 12, 11, 0.001)]
    found = Comparison(tuple(lines), "Tobit", "", {}, (), "tilted loss", 9, ("x",), 0.5, (0.5,), 2)
    losses, above, errors = found.loss_columns()
    assert losses == ["0.0100", "0.0101", "12.0"]
    assert above == ["0", "5.12e-05", "1.10e+01"]
    assert errors == ["0", "1.50e-04", "1.00e-03"]  # beside the distances, to be compared with them
    assert "(+5.12e-05 ± 1.50e-04)" in str(found)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y": "price"}, "y='price' is no column; there are x, noise"),
        ({"y": "Nois"}, "y='Nois' is no column; did you mean 'noise'[?] There are x, noise"),
        ({"censored": None, "threshold": "cap"}, "threshold='cap' is no column"),
        ({"y": None, "censored": None}, "y must be given, or lower and upper"),
        ({"features": ["z"]}, "features: 'z' is no column"),
        ({"y": "x", "features": ["x"]}, "features: 'x' holds the target"),
        ({"methods": ["magic"]}, "methods: there is no 'magic'"),
        ({"methods": ["Powell"]}, "methods: Powell: needs the threshold"),
        ({"folds": 1}, "folds must"),
        ({"quantiles": (0.5, 1.5)}, "quantiles must"),
        ({"y": [1.0, 2.0]}, "y must have one entry per row"),
        ({"y": np.array(["1 kg"] * 200, object)}, "y must hold numbers"),
        ({"censored": np.array(["dead"] * 200, object)}, "censored must be true or false, yes or no"),
        ({"censored": np.ones(200, bool)}, "censored: every row is censored"),
        ({"y": np.ones(200), "censored": None, "threshold": 1.0}, "threshold: every row is censored"),
    ],
)
def test_wrong_arguments_are_named_with_the_remedy(changed, words):
    X, y, _, flags = rows()
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        unmet.compare(X, **{"y": y, "censored": flags, **changed})


def test_few_rows_are_refused():
    X, y, _, flags = rows(40)
    with pytest.raises(ValueError, match="at least 50"):
        unmet.compare(X, y, censored=flags)
