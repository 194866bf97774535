"""``acclock doctor``: what is installed, and what would fail."""

from acclock.cli.show import JsonFlag, show
from acclock.system.installation import examine


def doctor(*, as_json: JsonFlag = False) -> None:
    """Say what is installed, which extras are there and what would not work."""
    findings = examine()
    if as_json:
        show({finding.part: finding.as_dict() for finding in findings}, as_json=True)
        return
    parts = max(len(finding.part) for finding in findings)
    found = max(len(finding.found) for finding in findings)
    for finding in findings:
        mark = "ok" if finding.works else "--"
        line = f"  {mark}  {finding.part:<{parts}}  {finding.found:<{found}}  {finding.advice}"
        print(line.rstrip())
