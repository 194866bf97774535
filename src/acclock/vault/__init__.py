"""Templates at rest: encrypted, versioned, audited, and gone when they are removed."""
