"""Users' files, tables and arrays in: formats, columns, lines, and errors that name the place."""
