"""Commands that answer questions about the tree, the machine and earlier runs."""
