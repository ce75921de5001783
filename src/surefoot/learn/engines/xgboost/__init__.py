"""XGBoost behind the engines' contract: its parameters, its data and trees, its model JSON."""
