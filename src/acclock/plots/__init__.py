"""Pictures of recordings, sessions and error rates, drawn into files."""
