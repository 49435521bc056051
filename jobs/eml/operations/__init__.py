"""Commands that look at a fleet and its job from outside: they read topics and the registry, never the job."""
