"""Side-by-side timings: `python -m benchmarks [simulate|bounds|moments] [--json]`. Ratios, never absolute claims."""
