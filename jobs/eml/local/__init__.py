"""What runs on one machine to try EML out: a broker, a registry, a simulated fleet, the job, the demonstration."""
