"""What goes wrong while a template renders, explained with places."""
