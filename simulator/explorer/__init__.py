"""The explorer: a local page that asks the same questions as the command line, and shows the same answers.

The page holds no numbers of its own. What it shows is a `Base` (a scenario and what ``--set`` changes of it), and
every figure is what the public functions of `simulator` say about that.
"""
