"""A live fleet: agents as processes that exchange messages, and the journals that they leave."""
