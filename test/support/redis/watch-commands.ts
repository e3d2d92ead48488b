import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** The commands that a Redis is given, each as MONITOR prints it. */
export interface CommandWatch extends Disposable {
  /** Resolves once a command has this text among its words; returns the commands up to it. */
  until(word: string): Promise<readonly string[]>;
}

/**
 * Watches from its resolution on. It reads the connection itself: a client of ioredis takes commands that
 * arrive together with the reply to MONITOR for replies of its own.
 */
export async function watchCommands(url: string): Promise<CommandWatch> {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const lines: string[] = [];
  const reader = createInterface({ input: socket });
  reader.on('line', (line) => lines.push(line));
  if (password !== '') socket.write(`AUTH ${decodeURIComponent(password)}\r\n`);
  socket.write('MONITOR\r\n');
  await once(reader, 'line');
  return {
    async until(word) {
      while (!lines.some((line) => line.includes(word))) await once(reader, 'line');
      return lines.slice(
        0,
        lines.findIndex((line) => line.includes(word)),
      );
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}
