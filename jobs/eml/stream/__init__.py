"""What happens to one record between Kafka and the learner; knows no Flink.

    avro       schemas of readings and keys, and the decoder
    registry   the client of the schema registry
    labels     the join of readings with labels on a topic of their own
    models     the models of a key: which one predicts, learns and evolves at a record, and their state as bytes
    output     predictions, evolution events and dead letters

The modules beside them are what these share: records, keys, limits, errors, the frame, the form of state.
"""
