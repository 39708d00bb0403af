"""The text a command is known to print."""
