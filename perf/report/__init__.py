"""What perf/bench is made of."""
