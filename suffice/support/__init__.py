"""Every room may use these: errors, files, memory, numbers and text from users, HTML, tables of text."""
