"""The SLS files that this machine gets: top files and targets."""
