"""The only place that knows Flink: the graph and the operator that moves state."""
