"""Arguments of states: schema, binding, conversion."""
