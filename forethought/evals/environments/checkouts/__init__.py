"""Workers that run public repositories where the user has them; nothing of these is copied here."""
