"""A panel and a fit on a real Dask cluster of this computer, beside the same alone."""
