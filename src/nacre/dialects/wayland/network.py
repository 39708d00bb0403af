"""Commands that look as if they needed the network, and what is said of those that failed."""

__all__ = ("HINT", "looks_networked")

HINT = (
    "The Bash sandbox has NO NETWORK, so this command could not reach the network (that is why the"
    " output is empty). Do NOT retry with curl/wget. To read a URL, use the WebFetch tool; to search"
    ' the web, use the `web` tool with operation "search". (To allow Bash network access, the user'
    " can set WAYLAND_BASH_ALLOW_NETWORK=1.)"
)
_NEEDLES = (
    *("curl ", "curl\t", "wget ", "http://", "https://"),
    *("git fetch", "git clone", "git pull", "git push", "git remote"),
    *("npm install", "npm i ", "npm ci", "npx ", "pnpm ", "yarn "),
    *("pip install", "pip3 install", "cargo install", "cargo fetch", "cargo update"),
    *("brew ", "apt ", "apt-get"),
    *("nc ", "ncat", "telnet", "ssh ", "scp ", "rsync ", "ftp "),
    *("ping ", "dig ", "nslookup", "host "),
)


def looks_networked(command: str) -> bool:
    """Whether a word of the list is anywhere in a command; harmless where it is wrong."""
    lowered = command.lower()
    return any(needle in lowered for needle in _NEEDLES)
