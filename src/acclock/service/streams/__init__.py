"""Live streams of many wearers, worked on in batches."""
