"""What must stay true: each check yields findings with a stable id, a place, what is wrong and how to mend it."""

from evidence.checks.finding import CATALOGUE, Finding, Level, Meaning
from evidence.checks.run import Report, report, run_checks

__all__ = ["CATALOGUE", "Finding", "Level", "Meaning", "Report", "report", "run_checks"]
