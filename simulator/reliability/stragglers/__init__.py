"""What is done about hosts that slow everybody down: one file a policy."""
