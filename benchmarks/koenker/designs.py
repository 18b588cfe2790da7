"""The simulation designs of Koenker (2008), J. Stat. Softw. 27(6), section 6."""

from dataclasses import dataclass

import numpy as np

SIZES = (100, 400, 1000)
TRUTH = (5.0, 1.0)  # intercept and slope of the median


@dataclass(frozen=True)
class Design:
    """How one table's data are drawn. The conditional median is 5 + x in all."""

    table: int
    noise: str  # "normal" or "t3"
    spread: str  # "constant": 0.39; "quadratic": 0.09 + 0.3 x²
    censoring: str  # "constant": 6.5; "variable": 5.5 + 0.75 x + 0.3 v

    @property
    def estimators(self) -> tuple[str, ...]:
        if self.spread == "constant":
            return ("Portnoy", "Peng-Huang", "Powell", "GMLE")
        return ("Portnoy L", "Portnoy Q", "Peng-Huang L", "Peng-Huang Q", "Powell", "GMLE")

    def draw(self, rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, what is observed, and the threshold of every row."""
        x = random.uniform(0, 2, rows)
        u = random.normal(size=rows) if self.noise == "normal" else random.standard_t(3, rows)
        spread = 0.39 if self.spread == "constant" else 0.09 + 0.3 * x**2
        threshold = np.full(rows, 6.5)
        if self.censoring == "variable":
            threshold = 5.5 + 0.75 * x + 0.3 * random.normal(size=rows)
        return x, np.minimum(5 + x + spread * u, threshold), threshold


DESIGNS = (
    Design(2, "normal", "constant", "constant"),
    Design(3, "normal", "constant", "variable"),
    Design(4, "normal", "quadratic", "constant"),
    Design(5, "normal", "quadratic", "variable"),
    Design(6, "t3", "constant", "constant"),
    Design(7, "t3", "constant", "variable"),
)
