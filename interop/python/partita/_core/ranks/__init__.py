"""Programs of several processes: how they start, find each other, and end."""
