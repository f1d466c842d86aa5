"""From a budget to what should be trained for it, and what that takes on a cluster."""
