# Golden numbers for Turnbull's estimate: Rscript tests/golden/turnbull.R, in any folder. Writes turnbull.json.
suppressPackageStartupMessages({library(survival); library(jsonlite)})

this <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
here <- dirname(normalizePath(this))
latent <- read.csv(file.path(here, "synthetic_gaussian.csv"))$latent

# Bounds that overlap: every third row exact, others between multiples of a width of their own, or open.
width <- c(0.5, 0.8, 1.3)[seq_along(latent) %% 3 + 1]
low <- floor(latent / width) * width
high <- low + width
low[latent < -1] <- NA
high[latent < -1] <- -1
high[latent > 2] <- NA
low[latent > 2] <- 2
exact <- seq_along(low) %% 3 == 0
low[exact] <- high[exact] <- latent[exact]

fit <- survfit(Surv(low, high, type = "interval2") ~ 1)
write_json(list(
  program = "survival::survfit of Surv(type = 'interval2')",
  versions = list(R = R.version.string, survival = as.character(packageVersion("survival"))),
  data = "synthetic_gaussian.csv",
  time = fit$time, survival = fit$surv
), file.path(here, "turnbull.json"), digits = NA, auto_unbox = TRUE)
