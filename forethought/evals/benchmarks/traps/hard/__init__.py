"""Plans to be thought out: the files state every rule, nothing misleads, and only a best plan is right."""
