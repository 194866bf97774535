"""Who may open a session: grants, assertions, signing keys, watchdog and local socket."""
