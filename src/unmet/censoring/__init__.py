"""What we see of latent values: thresholds, flags, sides, and schemes that censor."""

from unmet.censoring._mirror import mirror_levels, mirror_quantiles
from unmet.censoring._observed import Kind, Observed, Side, observe
from unmet.censoring._schemes import fixed_threshold, partial, supply_cap

__all__ = [
    "Kind",
    "Observed",
    "Side",
    "fixed_threshold",
    "mirror_levels",
    "mirror_quantiles",
    "observe",
    "partial",
    "supply_cap",
]
