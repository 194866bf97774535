"""How the tables of a vault came to be, step by step."""
