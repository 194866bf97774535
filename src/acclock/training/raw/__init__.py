"""The way from raw acceleration to embedding as one network, for where there is no Python."""
