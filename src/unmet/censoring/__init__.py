"""What we see of latent values: thresholds, flags, sides, and schemes that censor."""

from unmet.censoring._all_rows import quantiles_of_all
from unmet.censoring._kaplan_meier import Distribution, kaplan_meier
from unmet.censoring._mirror import mirror_levels, mirror_quantiles
from unmet.censoring._observe import observe, refuse_mask
from unmet.censoring._observed import Kind, Observed, Side
from unmet.censoring._schemes import fixed_threshold, partial, supply_cap
from unmet.censoring._staying import StayingUncensored
from unmet.censoring._turnbull import GroupedDistribution, turnbull

__all__ = [
    "Distribution",
    "GroupedDistribution",
    "Kind",
    "Observed",
    "Side",
    "StayingUncensored",
    "fixed_threshold",
    "kaplan_meier",
    "mirror_levels",
    "mirror_quantiles",
    "observe",
    "partial",
    "quantiles_of_all",
    "refuse_mask",
    "supply_cap",
    "turnbull",
]
