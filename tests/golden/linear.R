# Golden numbers for the exact linear methods: Rscript tests/golden/linear.R, in any folder. Writes linear.json.
suppressPackageStartupMessages({library(quantreg); library(survival); library(jsonlite)})

this <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
here <- dirname(normalizePath(this))
flags <- read.csv(file.path(here, "right_flags.csv"))
synthetic <- read.csv(file.path(here, "synthetic_gaussian.csv"))
response <- Surv(flags$y, flags$censored == 0, type = "right")
X <- cbind(1, flags$x1, flags$x2)
coarse <- seq(.05, .95, .05)

process <- function(method, ...) {         # coefficients by column of the grid, without Qbar
  fit <- suppressWarnings(crq(response ~ x1 + x2, data = flags, method = method, ...))
  beta <- fit$sol[2:4, ]
  apart <- flags$y - X %*% beta            # on rows that are fitted exactly the sign is that of a rounding error
  counted <- lapply(seq_len(ncol(beta)), function(j) which(abs(apart[, j]) < 1e-9 & apart[, j] >= 0))
  list(levels = fit$sol[1, ], coefficients = t(unname(beta)), fitted_and_at_risk = counted)
}
errors <- function(method) {               # half the central 68% of R's draws with exponential weights
  set.seed(1)
  draws <- replicate(500, {
    flags$weight <- rexp(nrow(flags))
    fit <- suppressWarnings(crq(response ~ x1 + x2, data = flags, weights = weight, method = method))
    suppressWarnings(coef(fit, 1:9 / 10))
  })
  half <- function(values) diff(quantile(values, c(.158655, .841345), na.rm = TRUE)) / 2
  list(levels = 1:9 / 10, standard_errors = t(unname(apply(draws, 1:2, half))))
}

rho <- function(r, tau) sum(pmax(tau * r, (tau - 1) * r))
powell <- lapply(c(.05, .25, .5, .75, .95), function(tau) {
  x <- cbind(1, synthetic$x1, synthetic$x2)
  fit <- crq.fit.pow(x, synthetic$y, rep(0, nrow(x)), tau, left = TRUE)
  beta <- unname(fit$coefficients)
  list(level = tau, coefficients = beta, objective = rho(synthetic$y - pmax(0, drop(x %*% beta)), tau))
})

write_json(list(
  program = "quantreg::crq, methods Portnoy, PengHuang and Powell (started from plain quantile regression)",
  versions = list(R = R.version.string, quantreg = as.character(packageVersion("quantreg")),
                  survival = as.character(packageVersion("survival"))),
  data = list(portnoy = "right_flags.csv", peng_huang = "right_flags.csv", powell = "synthetic_gaussian.csv"),
  portnoy = process("Portnoy"), portnoy_coarse = process("Portnoy", grid = coarse),
  peng_huang = process("PengHuang"), peng_huang_coarse = process("PengHuang", grid = coarse),
  portnoy_errors = errors("Portnoy"), peng_huang_errors = errors("PengHuang"), powell = powell
), file.path(here, "linear.json"), digits = NA, auto_unbox = TRUE)
