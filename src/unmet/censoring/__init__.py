"""What we see of latent values: thresholds, flags, sides, and schemes that censor."""

from unmet.censoring._kaplan_meier import Distribution, kaplan_meier
from unmet.censoring._mirror import mirror_levels, mirror_quantiles
from unmet.censoring._observed import Kind, Observed, Side, observe
from unmet.censoring._schemes import fixed_threshold, partial, supply_cap

__all__ = [
    "Distribution",
    "Kind",
    "Observed",
    "Side",
    "fixed_threshold",
    "kaplan_meier",
    "mirror_levels",
    "mirror_quantiles",
    "observe",
    "partial",
    "supply_cap",
]
