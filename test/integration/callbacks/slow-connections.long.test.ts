import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { classifyOutcome, keptReason } from '../../../src/callbacks/outcome.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { startDeafListener, type DeafListener } from '../../support/connections/deaf-listener.ts';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';

const okResponse = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

/** Posts to a name with these addresses; `begun` is called when the request is under way. */
async function post(
  addresses: readonly string[],
  port: number,
  { timeoutMs = 8000, host = 'hooks.example.com', begun = () => {} } = {},
) {
  const client = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8', '::1/128'] }),
    allowHttp: true,
    timeoutMs,
    userAgent: 'test',
    lookup: () => Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) }))),
  });
  try {
    const posted = client.post({ url: `http://${host}:${port}/hook`, headers: {}, body: Buffer.from('{}') });
    begun();
    const result = await posted;
    const outcome = classifyOutcome(result);
    return { code: outcome.code, reason: keptReason(outcome), result };
  } finally {
    await client.close();
  }
}

describe('a receiver whose connection takes more than a second', () => {
  it.each([
    ['the only address', ['127.0.0.1']],
    ['the first of two addresses, the other of which refuses', ['127.0.0.1', '::1']],
    ['the second of two, the first of which refuses', ['127.0.0.3', '127.0.0.1']],
  ])('is reached within the deadline at %s', async (_, addresses) => {
    await using deaf = await startDeafListener('127.0.0.1');
    const { code, result } = await post(addresses, deaf.port, { begun: deaf.hear });
    expect(code).toBe('delivered');
    expect(result.durationMs).toBeGreaterThan(500);
  });

  it('is reached at an address in its URL', async () => {
    await using deaf = await startDeafListener('127.0.0.1');
    expect(await post([], deaf.port, { host: '127.0.0.1', begun: deaf.hear })).toMatchObject({
      code: 'delivered',
    });
  });

  it('is reached although the address before it never answers', async () => {
    await using deaf = await startDeafListener('127.0.0.1');
    await using hole = await startDeafListener('127.0.0.2', deaf.port);
    const { code } = await post(['127.0.0.2', '127.0.0.1'], hole.port, { begun: deaf.hear });
    expect(code).toBe('delivered');
  });
});

it('the next address answers soon where the first never does', async () => {
  await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
  await using hole = await startDeafListener('127.0.0.2', receiver.port);
  const { code, result } = await post(['127.0.0.2', '127.0.0.1'], hole.port);
  expect(code).toBe('delivered');
  expect(result.durationMs).toBeLessThan(3000);
});

it('a family with many addresses that never answer leaves room for the other one', async () => {
  await using receiver = await startRawReceiver((socket) => socket.end(okResponse), { host: '::1' });
  const holes: DeafListener[] = [];
  for (const n of [2, 3, 4, 5, 6]) holes.push(await startDeafListener(`127.0.0.${n}`, receiver.port));
  const { code } = await post(['127.0.0.2', '127.0.0.3', '127.0.0.4', '::1'], receiver.port);
  expect(code).toBe('delivered');
  for (const hole of holes) await hole[Symbol.asyncDispose]();
});

describe('an attempt without a connection', () => {
  it('says which addresses did not answer and which refused', async () => {
    await using hole = await startDeafListener('127.0.0.2');
    expect(await post(['127.0.0.2', '127.0.0.1'], hole.port, { timeoutMs: 600 })).toMatchObject({
      code: 'timeout',
      reason: 'No connection in time: 127.0.0.2 did not answer, 127.0.0.1 refused the connection.',
      result: { sent: false },
    });
  });

  it('says that every address refused, and tries at most four of a family', async () => {
    const addresses = Array.from({ length: 5000 }, (_, i) => `127.0.${i >> 8}.${i & 255}`);
    const { code, reason } = await post(addresses.slice(1), 1025);
    expect(code).toBe('connection_refused');
    expect(reason?.match(/127\.0\.0\.\d+ refused the connection/g)).toHaveLength(4);
  });

  it('says which address it was, also where TLS alone was not open', async () => {
    await using silent = await startRawReceiver(() => {});
    const client = createCallbackClient({
      policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
      allowHttp: true,
      timeoutMs: 300,
      userAgent: 'test',
    });
    const result = await client.post({
      url: `https://127.0.0.1:${silent.port}/hook`,
      headers: {},
      body: Buffer.from('{}'),
    });
    expect(result).toMatchObject({
      code: 'timeout',
      detail: 'No connection was ready in time at 127.0.0.1.',
    });
    await client.close();
  });
});
