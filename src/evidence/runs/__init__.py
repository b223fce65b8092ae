"""How notebooks are executed: papermill, staleness, progress, ledger."""
