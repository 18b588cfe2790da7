"""The estimator as it comes on tables of many shapes, beside what people would otherwise use."""
