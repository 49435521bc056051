"""What runs on one machine to try EML out: today the simulated fleet and the demonstration."""
