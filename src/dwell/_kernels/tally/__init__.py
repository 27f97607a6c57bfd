"""What a run cost each agent, added up while it goes on."""
