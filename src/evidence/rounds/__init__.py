"""MLPerf's own data: reference convergence points, the planner, result logs."""
