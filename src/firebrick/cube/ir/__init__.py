"""The kernel IR: nodes, types, text form, verifier."""
