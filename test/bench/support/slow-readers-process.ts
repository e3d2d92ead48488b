import { connect } from 'node:net';
import { answer, isChild, startChild, type Child } from './child.ts';

const everyMs = 8_000;
const bytesAtOnce = 1_500;

/**
 * Clients in a process of their own that ask for the largest answer of a daemon at `url` and take 1 500 bytes
 * of it every eight seconds; what is closed is opened anew.
 */
export function startSlowReaders(url: string, count: number): Promise<Child<'open'>> {
  return startChild<'open'>(import.meta.url, [url, String(count)]);
}

function read(url: URL, open: Set<unknown>): void {
  const socket = connect({ port: Number(url.port), host: url.hostname }, () => {
    open.add(socket);
    socket.write('GET /docs/js/scalar.js HTTP/1.1\r\nhost: a\r\n\r\n');
  });
  socket.pause();
  socket.on('error', () => {});
  const timer = setInterval(() => socket.read(bytesAtOnce), everyMs);
  socket.on('close', () => {
    clearInterval(timer);
    open.delete(socket);
    setTimeout(() => read(url, open), 100);
  });
}

if (isChild(import.meta.url)) {
  const [, , url = '', count = '0'] = process.argv;
  const open = new Set<unknown>();
  for (let i = 0; i < Number(count); i += 1) read(new URL(url), open);
  answer(() => open.size);
}
