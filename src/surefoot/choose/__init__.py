"""Trade-offs between gain and risk: what can be reached, and what is worth choosing."""
