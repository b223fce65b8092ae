"""What is known: sources, claims, techniques, rules, benchmarks and records. No torch, no Sphinx."""
