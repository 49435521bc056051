"""What goes out to Kafka: predictions, evolution events and dead letters."""
