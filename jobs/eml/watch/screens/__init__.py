"""What each address shows, as a tree of Dash components made from the fleet as it is now."""
