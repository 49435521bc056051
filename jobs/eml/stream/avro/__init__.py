"""Avro: schemas of readings and keys as types, and the decoder of what they wrote."""
