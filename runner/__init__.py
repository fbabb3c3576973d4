"""The engine: SLS files in, a converged machine out."""

__version__ = "0.1.0"
