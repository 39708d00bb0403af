"""Other tools that run agents' scripts, beside nacre and the plain ways, in one run."""
