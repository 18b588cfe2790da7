"""A forked child says at once why it cannot fit or predict, where JAX would hang."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, warnings
import numpy as np
from unmet import CensoredQuantileRegressor
warnings.simplefilter("ignore")  # of JAX and Python about the fork
x = np.linspace(0, 1, 50)[:, None]
model = CensoredQuantileRegressor(quantiles=(0.5,), head="free", max_epochs=2).fit(x, x[:, 0])
for act in (lambda: model.fit(x, x[:, 0]), lambda: model.predict(x)):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that hangs ends without a word
        try:
            act()
        except RuntimeError as error:
            print("refused:", error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print("parent:", model.predict(x).shape)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fit_and_predict_after_a_fork() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["refused", "refused", "parent"], done
    assert "spawn" in lines[0]
