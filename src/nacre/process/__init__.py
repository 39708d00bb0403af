"""Processes: started here, and ended here with all they started."""
