# Golden numbers for Tobit models: Rscript tests/golden/tobit.R, in any folder. Writes tobit_errors.json.
suppressPackageStartupMessages({library(survival); library(jsonlite)})

this <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
here <- dirname(normalizePath(this))
synthetic <- read.csv(file.path(here, "synthetic_gaussian.csv"))
flags <- read.csv(file.path(here, "right_flags.csv"))
tight <- survreg.control(rel.tolerance = 1e-12)

describe <- function(fit) list(
  coefficients = unname(coef(fit)), scale = fit$scale, log_likelihood = fit$loglik[2],
  covariance = unname(vcov(fit)))          # of the coefficients and log(scale)

left <- survreg(Surv(y, censored == 0, type = "left") ~ x1 + x2, data = synthetic, dist = "gaussian", control = tight)
right <- survreg(Surv(y, censored == 0, type = "right") ~ x1 + x2, data = flags, dist = "gaussian", control = tight)

# Latent values known to lie between multiples of 0.75, below -1, or above 2; every fifth row exact.
low <- floor(synthetic$latent / .75) * .75
high <- low + .75
low[synthetic$latent < -1] <- NA
high[synthetic$latent < -1] <- -1
low[synthetic$latent > 2] <- 2
high[synthetic$latent > 2] <- NA
exact <- seq_along(low) %% 5 == 0
low[exact] <- high[exact] <- synthetic$latent[exact]
interval <- survreg(Surv(low, high, type = "interval2") ~ x1 + x2, data = synthetic, dist = "gaussian", control = tight)

write_json(list(
  program = "survival::survreg(dist = 'gaussian'), types left, right and interval2",
  versions = list(R = R.version.string, survival = as.character(packageVersion("survival"))),
  data = list(left = "synthetic_gaussian.csv", right = "right_flags.csv", interval = "synthetic_gaussian.csv"),
  left = describe(left), right = describe(right), interval = describe(interval)
), file.path(here, "tobit_errors.json"), digits = NA, auto_unbox = TRUE, pretty = TRUE)
