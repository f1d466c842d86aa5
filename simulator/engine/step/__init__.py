"""One optimizer step: what every stage does, told once, and the clocks that play it."""
