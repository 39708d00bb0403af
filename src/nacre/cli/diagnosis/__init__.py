"""What `nacre doctor` does: attacks under each sandbox, facts about the host, remedies."""
