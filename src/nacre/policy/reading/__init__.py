"""What the words of a command mean: options, subcommands, paths."""
