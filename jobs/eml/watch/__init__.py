"""The live page of a running fleet: what the job's output topics and the registry say, never the job itself."""
