"""Time to Quality: an executable evidence base for MLPerf Training closed-division submissions.

Importing this package is cheap on purpose: torch, Sphinx and pandas are imported by the rooms that need them.
"""

__version__ = "0.1.0"
