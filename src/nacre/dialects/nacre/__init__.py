"""The default dialect: the best of the others."""
