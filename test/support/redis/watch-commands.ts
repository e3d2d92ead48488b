import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { TestRedis } from './test-redis.ts';

/**
 * The commands on keys of a test that Redis is given while something is done, each as MONITOR prints it.
 * Reads the connection itself: a client of ioredis takes commands that arrive together with the reply to
 * MONITOR for replies of its own.
 */
export async function commandsOf(redis: TestRedis, work: () => Promise<unknown>): Promise<string[]> {
  const { hostname, port, password } = new URL(redis.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const lines: string[] = [];
  const reader = createInterface({ input: socket });
  reader.on('line', (line) => lines.push(line));
  if (password !== '') socket.write(`AUTH ${decodeURIComponent(password)}\r\n`);
  socket.write('MONITOR\r\n');
  await once(reader, 'line');
  try {
    await work();
    const end = `end of ${randomUUID()}`;
    await redis.connect().echo(end);
    const endAt = () => lines.findIndex((line) => line.includes(end));
    while (endAt() < 0) await once(reader, 'line');
    return lines.slice(0, endAt()).filter((line) => line.includes(`"${redis.prefix}:`));
  } finally {
    socket.destroy();
  }
}
