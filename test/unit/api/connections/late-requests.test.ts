import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endLateInTurns } from '../../../../src/api/connections/late-requests.ts';

const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
const malformed = Object.assign(new Error('malformed'), { code: 'HPE_INVALID_METHOD' });

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Ends connections as slowly as a machine with too much to do: one takes more than a turn's time. */
function createEnder(isAnswered: (socket: Socket) => boolean = () => false) {
  const ended: Socket[] = [];
  const end = endLateInTurns((_error, socket) => {
    ended.push(socket);
    vi.advanceTimersByTime(6);
  }, isAnswered);
  return { ended, end };
}

const sockets = (count: number) => Array.from({ length: count }, () => new Socket());

test('many that are over time at once leave turns to others between them, and all are ended', async () => {
  const { ended, end } = createEnder();
  const all = sockets(5);
  for (const socket of all) end(late, socket);
  const seen = [ended.length];
  while (ended.length < all.length) {
    await nextTurn();
    seen.push(ended.length);
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
  expect(ended).toEqual(all);
});

test('one that comes while others are being ended is ended too', async () => {
  const { ended, end } = createEnder();
  const [first, second, third] = sockets(3) as [Socket, Socket, Socket];
  end(late, first);
  await nextTurn();
  end(late, second);
  end(late, third);
  await expect.poll(() => ended).toEqual([first, second, third]);
});

test('what cannot be read is answered at once', () => {
  const { ended, end } = createEnder();
  const [socket] = sockets(1) as [Socket];
  end(malformed, socket);
  expect(ended).toEqual([socket]);
});

test('a request that is complete when its turn comes is left to its answer', async () => {
  const complete = new Set<Socket>();
  const { ended, end } = createEnder((socket) => complete.has(socket));
  const [punctual, tardy] = sockets(2) as [Socket, Socket];
  end(late, punctual);
  end(late, tardy);
  complete.add(punctual);
  await expect.poll(() => ended).toEqual([tardy]);
});
