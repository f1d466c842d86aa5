"""The verbs of the command line as functions: a scenario in, an answer out that prints, shows and can be taken apart.

Users write ``import simulator as ft`` and find them there.
"""
