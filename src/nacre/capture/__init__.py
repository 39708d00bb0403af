"""What a process says, kept within a limit."""
