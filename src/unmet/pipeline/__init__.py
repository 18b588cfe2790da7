"""From trips to decisions: `run` does all steps, and each step is a call of its own."""

from unmet.pipeline._account import account_of
from unmet.pipeline._cluster import beside_file
from unmet.pipeline._demo import demo_inputs, make_demo_city, run_demo
from unmet.pipeline._given_panel import panel_places
from unmet.pipeline._inputs import PanelInputs, built_panel
from unmet.pipeline._options import pairs_of
from unmet.pipeline._run import fit, forecast, panel, plan, report, run
from unmet.pipeline._steps import fit_step, forecast_step, panel_step, plan_step, report_step
from unmet.pipeline._watching import Watching

__all__ = [
    "PanelInputs",
    "Watching",
    "account_of",
    "beside_file",
    "built_panel",
    "demo_inputs",
    "fit",
    "fit_step",
    "forecast",
    "forecast_step",
    "make_demo_city",
    "pairs_of",
    "panel",
    "panel_places",
    "panel_step",
    "plan",
    "plan_step",
    "report",
    "report_step",
    "run",
    "run_demo",
]
