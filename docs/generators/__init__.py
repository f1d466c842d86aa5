"""What writes the generated pages: one module a page."""
