"""The configuration: files, flags and environment -> Options."""
