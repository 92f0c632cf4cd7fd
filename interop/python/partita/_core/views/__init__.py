"""Views: indices as selections (`index`), views (`links`), their addresses (`addresses`), and indexing (`indexing`)."""
