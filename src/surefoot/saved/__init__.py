"""What surefoot saved, read back whatever it is."""
