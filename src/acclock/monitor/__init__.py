"""One person's session, kept open by their heartbeat: a source in, news for all outputs out."""
