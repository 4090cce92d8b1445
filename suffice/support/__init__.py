"""What every room may use: errors, files, memory, numbers and text from users, HTML, tables of text."""
