"""Many wearers on one small server: an API, live streams, and replicas that share a vault."""
