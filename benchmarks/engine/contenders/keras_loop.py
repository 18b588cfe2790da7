"""Keras: `fit` with its own early stopping, one network after the other."""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from benchmarks.engine.config import Rule
from benchmarks.engine.problems import Problem, pinball
from benchmarks.engine.starts import draw

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)


def versions() -> dict[str, str]:
    return {"keras": keras.__version__, "tensorflow": tf.__version__}


def build(rule: Rule, columns: int) -> keras.Model:
    """A compiled model; targets carry the cap as a second column."""
    ridge = keras.regularizers.L2(rule.l2)
    inputs = keras.Input((columns, 1) if rule.network == "lstm" else (columns,))
    hidden = inputs
    if rule.network == "lstm":
        hidden = keras.layers.LSTM(
            rule.units, unit_forget_bias=False, kernel_regularizer=ridge, recurrent_regularizer=ridge
        )(inputs)
    model = keras.Model(inputs, keras.layers.Dense(len(rule.quantiles), kernel_regularizer=ridge)(hidden))
    theta = tf.constant(rule.quantiles)

    def censored_pinball(target: tf.Tensor, predicted: tf.Tensor) -> tf.Tensor:
        residual = target[:, :1] - tf.minimum(target[:, 1:], predicted)
        return tf.reduce_mean(tf.maximum(theta * residual, (theta - 1) * residual), axis=-1)

    # The metric is the loss without the penalty, which is what the stopping rule looks at.
    model.compile(
        optimizer=keras.optimizers.Adam(rule.learning_rate, epsilon=1e-8, global_clipnorm=rule.clip_norm),
        loss=censored_pinball,
        metrics=[censored_pinball],
    )
    return model


def train(rule: Rule, model: keras.Model, problem: Problem) -> tuple[float, int]:
    """Restart the compiled model (so that it is traced only once) and fit it to one problem."""
    weights = model.trainable_variables
    for number, variable in enumerate(weights):
        variable.assign(draw(tuple(variable.shape), [problem.seed, number], rule.initialiser))
    for variable in model.optimizer.variables:
        if "learning_rate" not in variable.path:
            variable.assign(np.zeros(variable.shape, dtype=variable.dtype))
    (X, y, cap), (Xv, yv, capv) = problem.split()
    stopping = keras.callbacks.EarlyStopping(
        monitor="val_censored_pinball", mode="min", patience=rule.patience, restore_best_weights=True
    )
    history = model.fit(
        X,
        np.stack([y, cap], axis=1),
        validation_data=(Xv, np.stack([yv, capv], axis=1)),
        epochs=rule.max_epochs,
        batch_size=len(X),
        callbacks=[stopping],
        shuffle=False,
        verbose=0,
    )
    predicted = np.asarray(model(Xv))
    return pinball(yv, capv, predicted, rule.quantiles), len(history.history["loss"])


def many(rule: Rule, problems: list[Problem]) -> dict[str, Any]:
    """Fit the problems one by one; the first, untimed, one takes the tracing."""
    model = build(rule, problems[0].X.shape[1])
    train(rule, model, problems[0])
    began = time.perf_counter()
    results = [train(rule, model, problem) for problem in problems]
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "losses": [r[0] for r in results], "epochs": [r[1] for r in results]}
