"""Which SLS files this machine gets: top files and targets."""
