"""The engine as an MCP server: the only package that knows the protocol's SDK.

A *client* is whoever speaks to the server: the one at the other end of standard input and
output, or one of several over HTTP. Each has a `Bash` of its own (`clients`), so that no job,
output or grant of one is ever another's. `handlers` answers requests with the dialect's tools
(`tools`) and the output of jobs (`resources`), and asks people through the client (`elicitation`).
`stdio` and `http` are the two ways in; `gate` is what stands before the second.
"""
