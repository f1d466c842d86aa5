"""Files in and out, and text that is safe to show."""
