"""How the weights came to be."""
