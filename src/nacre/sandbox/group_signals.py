"""The filter that has a warden asked about signals to process groups.

It refuses nothing: `kill` with a negative number other than -1 is put to whoever listens
(seccomp's user notification), every other call goes on to the filter that decides.
"""

import struct

from nacre.sandbox.calls import Machine

__all__ = ("group_signals",)

_LOAD, _JUMP_EQUAL, _JUMP_ATLEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCH_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _ASK = 0x7FFF0000, 0x7FC00000
_NEGATIVE, _EVERYONE = 0x80000000, 0xFFFFFFFF


def group_signals(machine: Machine) -> bytes:
    """The filter for an architecture, as an array of `struct sock_filter`."""
    kill = machine.number("kill")
    if kill is None:
        return b""
    code = (
        (_LOAD, 0, 0, _ARCH_AT),
        (_JUMP_EQUAL, 0, 6, machine.audit),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_EQUAL, 0, 4, kill),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_JUMP_ATLEAST, 0, 2, _NEGATIVE),
        (_JUMP_EQUAL, 1, 0, _EVERYONE),
        (_RETURN, 0, 0, _ASK),
        (_RETURN, 0, 0, _ALLOW),
    )
    return b"".join(struct.pack("=HBBI", *each) for each in code)
