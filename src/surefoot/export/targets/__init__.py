"""One table of export targets, and a writer for each of them."""
