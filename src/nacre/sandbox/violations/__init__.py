"""What the sandbox stopped, found in what a script said.

Errors are read in the output, and each is replayed: it was the sandbox exactly if the
confinement forbids that access there, a layer in force answers with that error, and the
host's user could have done it otherwise. Words alone never suffice.

    output ──complaints──▶ path, address or call ──replay──▶ Violation
"""

from nacre.sandbox.violations.evidence import Evidence, Host
from nacre.sandbox.violations.find import violations
from nacre.sandbox.violations.host import ThisHost

__all__ = ("Evidence", "Host", "ThisHost", "violations")
