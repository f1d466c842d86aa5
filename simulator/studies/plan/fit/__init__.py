"""Laws from a user's own runs: the parametric fit with intervals, IsoFLOP parabolas, the compute frontier."""
