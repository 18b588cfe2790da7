# Golden numbers from independent programs: Rscript tests/golden/golden.R [part ...], in any folder.
# Parts: rq tobit portnoy powell. Each writes <part>.json beside this file.
suppressPackageStartupMessages({library(quantreg); library(survival); library(jsonlite)})

this <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
here <- dirname(normalizePath(this))
parts <- commandArgs(TRUE)
if (length(parts) == 0) parts <- c("rq", "tobit", "portnoy", "powell")

rho <- function(r, tau) sum(pmax(tau * r, (tau - 1) * r))
versions <- list(R = R.version.string,
                 quantreg = as.character(packageVersion("quantreg")),
                 survival = as.character(packageVersion("survival")))
store <- function(part, call, result) {
  result <- c(list(program = call, versions = versions), result)
  write_json(result, file.path(here, paste0(part, ".json")), digits = NA, auto_unbox = TRUE, pretty = TRUE)
}
synthetic <- read.csv(file.path(here, "synthetic_gaussian.csv"))
flags <- read.csv(file.path(here, "right_flags.csv"))

if ("rq" %in% parts) {                     # plain quantile regression on latent (uncensored) values
  taus <- c(.1, .5, .9)
  fits <- lapply(taus, function(tau) rq(latent ~ x1 + x2, tau = tau, data = synthetic))
  store("rq", "quantreg::rq(latent ~ x1 + x2), method br", list(
    data = "synthetic_gaussian.csv", taus = taus,
    coefficients = t(sapply(fits, function(fit) unname(coef(fit)))),
    objective = mapply(function(fit, tau) rho(residuals(fit), tau), fits, taus)))
}

if ("tobit" %in% parts) {                  # Gaussian Tobit, left-censored at zero
  fit <- survreg(Surv(y, censored == 0, type = "left") ~ x1 + x2, data = synthetic, dist = "gaussian",
                 control = survreg.control(rel.tolerance = 1e-12))
  store("tobit", "survival::survreg(Surv(y, !censored, type = 'left') ~ x1 + x2, dist = 'gaussian')", list(
    data = "synthetic_gaussian.csv", coefficients = unname(coef(fit)), scale = fit$scale,
    log_likelihood = fit$loglik[2], log_likelihood_constant = fit$loglik[1]))
}

if ("portnoy" %in% parts) {                # right-censored, thresholds unknown
  taus <- 1:9 / 10
  fit <- crq(Surv(y, censored == 0, type = "right") ~ x1 + x2, data = flags, method = "Portnoy")
  store("portnoy", "quantreg::crq(Surv(y, !censored) ~ x1 + x2, method = 'Portnoy'), default grid", list(
    data = "right_flags.csv", taus = taus, coefficients = t(unname(coef(fit, taus)))))
}

if ("powell" %in% parts) {                 # known left thresholds at zero
  # Powell's objective is not convex, and crq's own exhaustive search (start = "global") stops at bases whose rows
  # share x1, which cannot be inverted. So its descent starts from 500 random bases, and the best end counts.
  tau <- .05
  y <- synthetic$y
  x <- cbind(1, synthetic$x1, synthetic$x2)
  zero <- rep(0, nrow(x))
  set.seed(1)
  bases <- lapply(1:500, function(i) sample(nrow(x), ncol(x)))
  bases <- Filter(function(rows) rcond(x[rows, ]) > 1e-6, bases)
  ends <- sapply(bases, function(rows) {
    fit <- suppressWarnings(try(crq.fit.pow(x, y, zero, tau, start = rows), silent = TRUE))
    if (inherits(fit, "try-error")) rep(NA, ncol(x)) else fit$coefficients
  })
  values <- apply(ends, 2, function(beta) rho(y - pmax(0, drop(x %*% beta)), tau))
  best <- min(values, na.rm = TRUE)
  store("powell", "quantreg::crq.fit.pow(x, y, yc = 0, tau, left = TRUE), best of random starting bases", list(
    data = "synthetic_gaussian.csv", tau = tau, coefficients = ends[, which.min(values)], objective = best,
    starts = sum(!is.na(values)), share_of_starts_within_half_percent = mean(values <= 1.005 * best, na.rm = TRUE)))
}
