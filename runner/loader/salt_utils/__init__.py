"""What `import salt.utils.X` gives to the Python code of a tree: a file for each of Salt's modules,
written anew.
"""
