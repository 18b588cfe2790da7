import numpy as np

from unmet import CensoredQuantileRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 1))
wanted = 12 + 3 * X[:, 0] + rng.normal(scale=4, size=2000)  # rides people wanted: nobody records this
bikes = rng.integers(5, 25, size=2000)  # bikes that stood there
rides = np.minimum(wanted, bikes)  # what the trip records show
model = CensoredQuantileRegressor(random_state=0).fit(X, rides, threshold=bikes)
print(f"seen {rides.mean():.2f}, recovered {model.predict(X).mean():.2f}, wanted {wanted.mean():.2f}")
print(model.predict_quantiles([[-1.0], [0.0], [1.0]]).round(1))  # the 5%, 50% and 95% quantiles
