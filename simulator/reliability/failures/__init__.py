"""What goes wrong: one file a kind of cause."""
