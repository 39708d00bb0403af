"""Commands that run commands: `sudo`, `xargs`, `bash -c`, `python -c`."""
