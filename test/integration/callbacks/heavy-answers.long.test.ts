import type { LookupAddress } from 'node:dns';
import { expect, it } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { createHostLookup } from '../../../src/names/host-lookup.ts';
import { startStubResolver } from '../../support/connections/stub-resolver.ts';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';

// Maximum milliseconds of processor time of one turn of the event loop.
const turnMsMax = 50;

/** The most processor time (ms) that one turn takes while the work is done. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver] = [0, false];
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return longest;
}

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
it.each([
  ['headers', 'HTTP/1.1 200 OK\r\n', 'a:\r\n'],
  ['trailers', `${chunked}0\r\n`, 'a:\r\n'],
  ['chunks', chunked, '1\r\n \r\n'],
  ['interim responses', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
])('a million small %s hold no turn of the event loop', async (_, head, each) => {
  const answer = Buffer.from(head + each.repeat(1_000_000));
  await using receiver = await startRawReceiver((socket) => socket.write(answer));
  const client = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
    allowHttp: true,
    timeoutMs: 5000,
    userAgent: 'test',
  });
  const request = { url: receiver.url, headers: {}, body: Buffer.from('{}'), excerptBytesMax: 16_384 };
  // The first one is slower, for its code is compiled meanwhile.
  await client.post(request);
  expect(await longestTurn(() => client.post(request))).toBeLessThan(turnMsMax);
  await client.close();
});

it('few addresses of a name with many are kept', async () => {
  const addresses = Array.from({ length: 70 }, (_, i) => `192.0.2.${i}`);
  using resolver = await startStubResolver(() => addresses, { port: 0, ttlSeconds: 60 });
  const found: readonly LookupAddress[] = await createHostLookup({ servers: [resolver.server] })(
    'many.example.com',
  );
  expect(found).toHaveLength(32);
});
