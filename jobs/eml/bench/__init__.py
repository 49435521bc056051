"""The stream's benchmark: the job beside what PyFlink does without it, Kafka to Kafka.

    command    `eml bench`: its options
    stream     one run: what is started, in which turns, and what is printed
    load       the readings that every pipeline is given
    pipelines  the job and its peers as processes with the same settings
    measure    rates, from the append times of what the pipelines wrote
    table      the figures on the screen

The peers' graphs are `eml.flink.peers`, run as a process of their own: nothing here imports Flink.
"""
