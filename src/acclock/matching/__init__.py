"""Identity vectors in, verdict out."""
