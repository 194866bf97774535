"""The networks, as PyTorch defines them. Nothing that only embeds imports this package."""
