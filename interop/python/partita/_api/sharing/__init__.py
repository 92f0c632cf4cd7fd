"""Arrays and other packages: protocols of distributed arrays, and functions of one's own on parts."""
