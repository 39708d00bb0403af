"""The names at the top of a writable folder that are run or obeyed without being asked.

A name with a trailing slash stands for a folder and all that is in it.
"""

__all__ = ("PROTECTED_NAMES", "SETTINGS")

# Those that nacre reads itself; a test keeps them in step with the reader.
SETTINGS = ("nacre.toml", "agentrail.yaml", "agentrail.yml")

_SHELLS = (
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/fish/",
    ".cshrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".profile",
    ".tcshrc",
    ".xprofile",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
)

_PROGRAMS = (
    ".config/autostart/",
    ".config/git/",
    ".config/systemd/",
    ".gdbinit",
    ".gitconfig",
    ".hg/hgrc",
    ".lldbinit",
    ".pdbrc",
    ".ripgreprc",
    ".screenrc",
    ".ssh/",
    ".tmux.conf",
)

_EDITORS = (
    ".exrc",
    ".fleet/",
    ".idea/",
    ".nvim.lua",
    ".nvimrc",
    ".vimrc",
    ".vscode/",
    ".zed/",
)

_AGENTS = (
    ".agents/",
    ".aider.conf.yml",
    ".amazonq/",
    ".claude.json",
    ".claude/agents/",
    ".claude/commands/",
    ".claude/hooks/",
    ".claude/output-styles/",
    ".claude/plugins/",
    ".claude/rules/",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills/",
    ".clinerules",
    ".codex/",
    ".continue/",
    ".cursor/",
    ".cursorrules",
    ".gemini/",
    ".kiro/",
    ".mcp.json",
    ".opencode/",
    ".roo/",
    ".roomodes",
    ".windsurf/",
    ".windsurfrules",
    "opencode.json",
    "opencode.jsonc",
)

PROTECTED_NAMES = (*SETTINGS, *_SHELLS, *_PROGRAMS, *_EDITORS, *_AGENTS)
