"""Who may call the service: tokens, roles and limits."""
