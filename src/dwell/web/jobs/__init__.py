"""Jobs of the server: runs, films, and short tasks about scenarios."""
