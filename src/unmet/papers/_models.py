"""The models of Section IV as data: settings of an estimator, and what it gets to see."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Model:
    """A row of a table.

    Parameters
    ----------
    parameters : settings of the estimator.
    sees : what it is fitted to. "threshold": observed values and the thresholds of all rows. "nothing":
        observed values, as if nothing were censored. "latent": latent values, which makes it an oracle.
        "truth": nothing is fitted, and the true quantiles named by `truth` take the place of predictions.
    validation : what the validation rows are for: "train" (they are trained on), "stop" (they decide when to
        stop) or "nothing".
    summed : clip_norm and l2 are meant for the loss summed over rows and levels, as in the paper's
        equations, and not for its mean.
    seeded : runs differ in their random start; otherwise one run is enough.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    estimator: str = "quantile"
    sees: str = "threshold"
    validation: str = "train"
    summed: bool = False
    seeded: bool = True
    truth: str = ""

    def but(self, name: str | None = None, sees: str | None = None, **parameters: Any) -> "Model":
        """Return the same model with other settings."""
        return replace(
            self,
            name=name or self.name,
            sees=sees or self.sees,
            parameters={**self.parameters, **parameters},
        )


# The settings of the code that the authors released: random weights, a tenth of the rate in the text,
# ten times its patience, no penalty. They reproduce Tables II to IV.
RELEASED_TRAINING = {
    "initialiser": "glorot",
    "learning_rate": 0.001,
    "patience": 100,
    "max_epochs": 5000,
    "l2": 0.0,
    "clip_norm": 1.0,
}
# What the text of the paper says.
PRINTED_TRAINING = {
    "initialiser": "ones",
    "learning_rate": 0.01,
    "patience": 10,
    "max_epochs": 5000,
    "l2": 0.001,
    "clip_norm": 1.0,
}
# x0 = 1 is a column, so there is no intercept; the networks see the data in their own units.
_PLAIN = {"schedule": "constant", "standardise": False, "fit_intercept": False}
_FREE = {"head": "free", "loss": "published"}


def _paper(settings: Mapping[str, Any], *, seeded: bool) -> dict[str, Model]:
    """Return the paper's five models with these training settings."""
    free = Model("", {**_PLAIN, **_FREE, **settings}, validation="stop", summed=True, seeded=seeded)
    tobit = Model(
        "", {**_PLAIN, **settings, "scale": 1.0}, "tobit", validation="stop", summed=True, seeded=seeded
    )
    models = (
        free.but("QNN", sees="nothing", joint=False),
        free.but("Multi-QNN", sees="nothing"),
        free.but("CQNN", joint=False),
        free.but("Multi-CQNN"),
        tobit.but("Tobit"),
    )
    return {model.name: model for model in models}


RELEASED = _paper(RELEASED_TRAINING, seeded=True)
PRINTED = _paper(PRINTED_TRAINING, seeded=False)

# Trained to the end on the training rows: what the losses themselves ask for. The printed equation has no
# gradient where all of a quantile lies beyond the threshold, so free quantiles start from ones here too.
_TO_THE_END = Model(
    "",
    {
        **_PLAIN,
        "head": "free",
        "initialiser": "ones",
        "max_epochs": 4000,
        "learning_rate": 0.02,
        "schedule": "cosine",
    },
    validation="nothing",
    seeded=False,
)
_TOBIT = Model("", {}, "tobit", seeded=False)
CONVERGED = {
    model.name: model
    for model in (
        _TO_THE_END.but("QNN", sees="nothing", joint=False),
        _TO_THE_END.but("Multi-QNN", sees="nothing"),
        _TO_THE_END.but("CQNN", loss="published", joint=False),
        _TO_THE_END.but("Multi-CQNN", loss="published"),
        _TO_THE_END.but("Multi-CQNN, printed equation"),
        _TOBIT.but("Tobit, σ estimated", scale="constant"),
        _TOBIT.but("Tobit, σ(x) estimated", scale="network"),
    )
}

# The class as it comes: one configuration for every data set and level.
DEFAULT = Model("default")
ORACLE = DEFAULT.but("default on latent values", sees="latent")
