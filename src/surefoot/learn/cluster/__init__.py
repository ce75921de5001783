"""Training on many machines: Dask holds the data and starts the work, XGBoost's collective adds up."""
