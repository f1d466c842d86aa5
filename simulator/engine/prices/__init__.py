"""What operations and exchanges cost on a machine, and the work of a step that is made of them."""
