"""What happens to one record between Kafka and the learner; knows no Flink."""
