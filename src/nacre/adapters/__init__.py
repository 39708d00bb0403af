"""nacre in the frameworks that agents are built with: one module each, imported by those who use it."""
