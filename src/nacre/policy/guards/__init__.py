"""Guards: built-in rules that no rule file can switch off."""
