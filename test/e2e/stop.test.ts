import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { createLatch } from '../support/receivers/receiver.ts';
import {
  baselined,
  isLogged,
  leftBehind,
  lines,
  setStopStage,
  subscribe,
  subscriptions,
} from './stop-stage.ts';

const stage = setStopStage();
const authorization = `host: x\r\nauthorization: Bearer ${apiToken}\r\n`;
const putAccount = `PUT /v1/accounts/b HTTP/1.1\r\n${authorization}content-type: application/json\r\ncontent-length: 99\r\n\r\n`;

/** A client that has sent this much, and reads no further than the first answer. */
async function openConnection({ url }: DaemonProcess, text: string, awaits: 'answer' | 'nothing') {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  if (awaits === 'answer') await once(socket, 'data');
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

test('no connection keeps it from ending: unused, kept alive, with half a request, or an event stream', async () => {
  await using daemon = await startDaemonProcess(stage.environment);
  const sockets = [
    await openConnection(daemon, '', 'nothing'),
    await openConnection(daemon, 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n', 'answer'),
    await openConnection(daemon, 'GET /health/live HTTP/1.1\r\nhost', 'nothing'),
    await openConnection(daemon, `${putAccount}{`, 'nothing'),
    await openConnection(
      daemon,
      `GET /v1/accounts/default/events/stream HTTP/1.1\r\n${authorization}\r\n`,
      'answer',
    ),
  ];
  expect(await daemon.end('SIGTERM')).toBe(0);
  expect(leftBehind(daemon)).toEqual([]);
  for (const socket of sockets) socket.destroy();
});

test('a second signal does not cut off an answer that is being worked on, and nothing is polled meanwhile', async () => {
  await using daemon = await startDaemonProcess(stage.environment);
  await baselined(daemon);
  const subscription = await subscribe(daemon, stage.receiver);
  const latch = createLatch<number>();
  stage.receiver.answer(() => latch.opened);
  const ping = daemon.api.call('POST', `${subscriptions}/${subscription}/test`);
  await vi.waitFor(() => expect(stage.receiver.inFlight()).toBe(1), 5_000);
  const unfinished = await openConnection(daemon, 'GET /health/live HTTP/1.1\r\nhost', 'nothing');
  const halfSent = await openConnection(daemon, `${putAccount}{`, 'nothing');
  const cut = Promise.all([unfinished, halfSent].map(closed));
  const ended = daemon.end('SIGTERM');
  await isLogged(daemon, 'daemon.stopping');
  const polls = lines(daemon, 'poll.completed').length;
  const endedToo = daemon.end('SIGINT');
  await cut;
  latch.open(200);
  expect((await ping).body).toMatchObject({ outcome: 'delivered' });
  expect([await ended, await endedToo]).toEqual([0, 0]);
  expect(lines(daemon, 'poll.completed').length - polls).toBeLessThanOrEqual(1);
});

test('ends well before it has started', async () => {
  await using daemon = await startDaemonProcess(
    { ...stage.environment, REDIS_URL: 'redis://127.0.0.1:1' },
    'redis.down',
  );
  expect(await daemon.end('SIGTERM')).toBe(0);
  expect(lines(daemon, 'daemon.not_started')).toEqual([]);
});
