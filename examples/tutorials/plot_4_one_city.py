"""
One city: from trips to a plan
==============================

You have trip records, a status feed and a list of stations. This tutorial goes from these files to lost
rides, a forecast and a stock plan, in one call. A simulated village stands in for your city, so that the
true demand is known.

It needs ``pip install 'unmet[mobility,report]'`` and pandas.
"""

# %%
# The files
# ---------
#
# ``make_city`` writes what an operator has: trips, a feed of stock, stations, weather. Name your own files
# instead.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import unmet
from unmet.datasets import make_city

folder = Path(tempfile.mkdtemp())
city = make_city("village", days=35, seed=1)
city.write(folder / "city")
print(*sorted(path.name for path in (folder / "city").iterdir()), sep="\n")

# %%
# One call
# --------
#
# On the command line this is ``unmet run trips.csv.gz --status … --stations … --zone … -o out``.

run = unmet.run(
    trips=folder / "city" / "trips.csv.gz",
    status=folder / "city" / "station_status_events.csv.gz",
    stations=folder / "city" / "station_information.json",
    weather=folder / "city" / "weather.csv",
    zone="America/New_York",
    network="linear",
    output=folder / "out",
    progress=False,
)
print(run.summary())

# %%
# Lost rides, by place
# --------------------
#
# ``run.lost`` has one row per place and hour. Its means add up.

lost = run.lost.groupby("unique_id")[["y", "demand_mean", "lost_mean"]].sum()
print(lost.sort_values("lost_mean", ascending=False).round(0).head())

# %%
# As only a simulation can, hold the estimate against the truth.

truth = city.truth.lost.sum(axis=1)
estimate = lost["lost_mean"].to_numpy()
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ax.plot(truth, estimate, "o", color="#0072b2")
top = max(truth.max(), estimate.max()) * 1.05
ax.plot([0, top], [0, top], color="0.6", linewidth=1)
ax.set(xlabel="rides truly lost at a place", ylabel="estimated")
plt.show()

# %%
# When were they lost?
# --------------------

hours = run.lost.assign(hour=run.lost["ds"].dt.tz_localize("UTC").dt.tz_convert(run.zone).dt.hour)
profile = hours.groupby("hour")[["y", "lost_mean"]].sum()
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.bar(profile.index, profile["y"], color="0.7", label="ridden")
ax.bar(profile.index, profile["lost_mean"], bottom=profile["y"], color="#d55e00", label="lost")
ax.set(xlabel="local hour", ylabel="rides in five weeks")
ax.legend(frameon=False)
plt.show()

# %%
# Forecast
# --------
#
# Demand of every place for the next week. ``unmet`` is the median, the other columns are ends of intervals,
# all whole counts.

forecast = run.forecast
place = forecast[forecast["unique_id"] == lost["lost_mean"].idxmax()].head(72)
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.fill_between(
    place["ds"], place["unmet-lo-90"], place["unmet-hi-90"], color="#0072b2", alpha=0.2, label="90%"
)
ax.plot(place["ds"], place["mean"], color="#0072b2", label="expected demand")
ax.set(ylabel="rides an hour", xlabel="UTC")
ax.legend(frameon=False)
figure.autofmt_xdate()
plt.show()

# %%
# Plan
# ----
#
# How many vehicles should stand where at four in the morning, and which moves help most?

print(run.plan[["name", "usual_stock", "target", "rides_saved", "value_of_next_vehicle"]].round(2))
print(run.moves[["from_name", "to_name", "vehicles", "rides_saved"]].round(2))

# %%
# ``run.page`` is the path of the report, one page that works offline. Open it, send it, or run ``unmet
# serve out``.
#
# What the columns mean: :doc:`/reference/files/index`. What to check before you trust the numbers:
# :doc:`/explanation/not-identified`. Your own file formats: :doc:`/how-to/your-feed`,
# :doc:`/how-to/your-layout`.
