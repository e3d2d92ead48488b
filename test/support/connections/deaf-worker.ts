import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// The thread of `startDeafListener`: it listens, and accepts nothing before it is woken.
const { host, port, wake } = workerData as { host: string; port: number; wake: Int32Array };

const deafMs = 400;

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () =>
    socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'),
  );
});
server.listen({ host, port, backlog: 1 }, () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a thread, no window.
  parentPort?.postMessage(server.address());
  Atomics.wait(wake, 0, 0);
  // What is sent to it meanwhile is lost.
  Atomics.wait(wake, 0, 1, deafMs);
});
