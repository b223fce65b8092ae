"""How notebooks are executed: papermill in child processes, staleness, progress, sweeps, ledger, verification."""
