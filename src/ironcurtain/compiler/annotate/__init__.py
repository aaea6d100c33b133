"""What tools do and what their arguments mean, from their definitions alone."""
