"""What can be left out of everything that was read from it; each kind is a module of its own."""
