"""The models of one key: which of them predicts, learns and evolves at a record, and its state as bytes."""
