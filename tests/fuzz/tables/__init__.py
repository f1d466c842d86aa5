"""Tables of attacks: one kind of attack a file, one attack a line."""
