"""Drawings that answer to the pointer: each module turns rows into a chart, and knows nothing of the page."""
