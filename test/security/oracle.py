"""Reads a JSON list of addresses, or of IPv4 addresses in any spelling that inet_aton knows, and says of each whether it is a public host; null where it
is no address."""

import ipaddress
import json
import socket
import sys


def is_public(text):
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(text))
        except OSError:
            return None
    return address.is_global and not address.is_multicast and not address.is_reserved


print(json.dumps([is_public(text) for text in json.load(sys.stdin)]))
