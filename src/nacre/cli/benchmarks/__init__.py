"""What `nacre bench` measures: one module for each kind of work."""
