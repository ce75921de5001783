"""Re-rankers learned from clicks: training, choice and the page (Bennett et al., ICTIR 2015)."""
