"""High data -> low chunks -> requisites -> order."""
