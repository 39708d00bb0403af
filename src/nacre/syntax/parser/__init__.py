"""Text to tree: two parsers of bash that agree."""
