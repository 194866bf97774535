"""Everything that touches a device, a disk, a clock or a network."""
