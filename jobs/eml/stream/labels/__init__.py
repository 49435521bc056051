"""The join of readings with labels that come on a topic of their own."""
