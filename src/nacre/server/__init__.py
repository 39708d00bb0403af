"""The engine as an MCP server: the only package that knows the protocol's SDK."""
