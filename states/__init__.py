"""State modules: what should be. One module or package for each state module (file, pkg, cmd, ...)."""
