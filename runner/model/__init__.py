"""The values that travel between the stages; nothing here imports another package."""
