"""The present machine as states: a file for each state module, read by `runner resource` alone."""
