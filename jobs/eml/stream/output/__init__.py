"""What goes out to Kafka: predictions, scores, evolution events and dead letters."""
