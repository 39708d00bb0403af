"""The dialect `yoi`: one tool, whose long output goes to a file and comes back as its last lines."""
