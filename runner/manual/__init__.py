"""The manual and the JSON Schema of SLS files, made from docstrings and signatures."""
