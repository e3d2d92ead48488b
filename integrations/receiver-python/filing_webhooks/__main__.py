"""`python3 -m filing_webhooks` prints each event as a line of JSON."""

from . import main

main()
