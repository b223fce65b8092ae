"""How an effect is measured: effect, verdict, timing, equivalence, device, data, models, plots, processes."""
