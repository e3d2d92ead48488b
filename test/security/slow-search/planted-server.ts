import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A server with a parser as the dashboard once had one: its time grows with the square of a header's length.
const quadratic = /^\s*gzip\s*(;\s*q=(1|0\.\d*[1-9])\S*\s*)?$/i;

const server = createServer((request, response) => {
  const header = request.headers['accept-encoding'] ?? '';
  const takes = String(header)
    .split(',')
    .some((coding) => quadratic.test(coding));
  response.end(String(takes));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
