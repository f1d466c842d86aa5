"""How long the samples of a data set are: one file per kind."""
