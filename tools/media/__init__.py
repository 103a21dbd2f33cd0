"""Pictures and sound as models and transcribers take them."""
