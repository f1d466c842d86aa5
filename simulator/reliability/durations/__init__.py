"""How long something takes: one file a distribution, all by their mean."""
