"""A run under way: its log and its failures correct the prediction, and the rest of it is simulated."""
