"""Benchmarks: what the package costs against what people would otherwise use."""
