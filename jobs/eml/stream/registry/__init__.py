"""The schema registry: its client, what it is asked for and how often."""
