"""LambdaMART whose pair weights come from a risk-sensitive measure."""
