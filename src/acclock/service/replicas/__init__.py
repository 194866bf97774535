"""Several processes that know of each other's sessions."""
