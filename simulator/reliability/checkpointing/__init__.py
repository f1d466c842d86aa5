"""When to save: one file a policy."""
