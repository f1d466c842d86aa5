"""Logs that other people keep of failures: one file a format, told by its columns."""
