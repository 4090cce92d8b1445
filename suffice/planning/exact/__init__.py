"""Plans from exact second moments of the problem at hand."""
