"""What is done about a failure: one file a policy."""
