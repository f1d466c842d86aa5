"""Kinds of tables of measurements; a kind is a file here, found by the columns it needs."""
