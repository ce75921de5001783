"""One file for each layout of a click log: how its lines become shown lists and clicks, as Ibis expressions."""
