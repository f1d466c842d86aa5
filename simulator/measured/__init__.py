"""Runs that were measured: what their logs say, what disturbs their steps, and how far they are from a prediction."""
