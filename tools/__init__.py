"""What makes the documentation. Not shipped with the package.

reference   pages from the code: settings, metrics, topics, command line (`make docs`)
evidence    docs/evidence.md and README's table from the trials in evidence/ (`make evidence`)
benchmarks  the tables of docs/benchmarks.md and docs/sizing.md from the runs in evidence/bench (`make benchmarks`)
figures     the drawings in docs/images, as SVG
site        the hook of MkDocs: adds those pages and the repository's own, and mends links between them
"""
