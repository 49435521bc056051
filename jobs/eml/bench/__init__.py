"""The benchmarks: the job beside what one would take instead, Kafka to Kafka; and the learner alone.

    command     `eml bench`: its options
    running     `eml bench stream` from its options to its tables and files
    stream      a backlog: what is started, in which turns
    paced       a load at a pace, and the search for the highest rate that keeps up
    load        the readings that every pipeline is given
    beforehand  the model that every key begins with
    sending     readings to Kafka, all at once or at a pace
    pipelines   the job and its peers as processes with the same settings
    measure     rates, from the append times of what the pipelines wrote
    latency     delays, from append to append
    table       the figures on the screen
    report      the figures as a file, and what got slower
    river_loop  a peer: a plain loop over Kafka with River's logistic regression
    plain       what such a peer needs
    quix_app    a peer: Quix Streams with the same learner
    quix_models its models: in memory, and in its keyed state
    quix_python the Python that has Quix Streams
    learner     `eml bench learner`
    sizing      `eml bench sizing`

The peers on Flink are `eml.flink.peers`, run as a process of their own: nothing here imports Flink.
"""
