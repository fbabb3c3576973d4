"""Errors of the rendering of templates, explained with places."""
