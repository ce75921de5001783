"""LightGBM behind the engines' contract: its parameters, its data and trees, its model text."""
