import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';
import { setImmediate as turn } from 'node:timers/promises';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { classifyOutcome, type CallbackOutcome } from '../../../src/callbacks/outcome.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';
import type { RawReceiver } from '../../support/receivers/raw-receiver.ts';

const cert = readFileSync(new URL('fixtures/callback-test-cert.pem', import.meta.url), 'utf8');
const key = readFileSync(new URL('fixtures/callback-test-key.pem', import.meta.url), 'utf8');
const okResponse = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

interface TlsReceiver extends RawReceiver {
  /** The server name and protocol of each handshake. */
  readonly handshakes: readonly unknown[];
}

async function startTlsReceiver(
  answer: (socket: Socket, n: number) => void = (socket) => socket.write(okResponse),
): Promise<TlsReceiver> {
  const handshakes: unknown[] = [];
  const receiver = await startRawReceiver(answer, {
    wrap: (onSocket) =>
      createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket: TLSSocket) => {
        handshakes.push([socket.servername, socket.alpnProtocol]);
        onSocket(socket);
      }).on('tlsClientError', () => {}),
  });
  return Object.assign(receiver, { handshakes });
}

function createTestClient(ca: string | undefined) {
  return createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
    allowHttp: false,
    timeoutMs: 5000,
    userAgent: 'test',
    lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    ...(ca === undefined ? {} : { ca }),
  });
}

async function outcomesOf(ca: string | undefined, ...urls: string[]): Promise<CallbackOutcome[]> {
  const client = createTestClient(ca);
  try {
    const results = await Promise.all(
      urls.map((url) => client.post({ url, headers: {}, body: Buffer.from('{}') })),
    );
    return results.map(classifyOutcome);
  } finally {
    await client.close();
  }
}

describe('https', () => {
  it('asks for and verifies the name of the URL, speaks HTTP/1.1 and vets addresses like http', async () => {
    await using receiver = await startTlsReceiver();
    expect(await outcomesOf(cert, `https://callback.test:${receiver.port}/`)).toEqual([
      { kind: 'delivered', code: 'delivered' },
    ]);
    expect(receiver.handshakes).toEqual([['callback.test', 'http/1.1']]);
  });

  it('hangs with one account whose endpoints never finish the handshake, and not with others', async () => {
    await using receiver = await startTlsReceiver();
    const silent = createPlainServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const client = createTestClient(cert);
    const post = (account: string, url: string) =>
      client.post({ url, account, headers: {}, body: Buffer.from('{}') });
    try {
      const hanging = Array.from({ length: 300 }, () => post('a', `https://callback.test:${port}/`));
      const startedAt = performance.now();
      const result = await post('b', `https://callback.test:${receiver.port}/`);
      expect(classifyOutcome(result)).toMatchObject({ kind: 'delivered' });
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      client.abortAll();
      expect(new Set((await Promise.all(hanging)).map(({ kind }) => kind))).toEqual(new Set(['failure']));
    } finally {
      await client.close();
      silent.close();
    }
  });

  it('passes over interim responses', async () => {
    await using receiver = await startTlsReceiver((socket) =>
      socket.write(`HTTP/1.1 100 Continue\r\n\r\n${okResponse}`),
    );
    expect(await outcomesOf(cert, `https://callback.test:${receiver.port}/`)).toEqual([
      { kind: 'delivered', code: 'delivered' },
    ]);
    expect(receiver.requests).toHaveLength(1);
  });

  it('begins TLS with a few at a time, and their deadlines with them', async () => {
    let connecting = 0;
    let connectingMax = 0;
    const choose: TlsOptions['SNICallback'] = (_name, done) => {
      connecting += 1;
      connectingMax = Math.max(connectingMax, connecting);
      setTimeout(() => {
        connecting -= 1;
        done(null);
      }, 250);
    };
    await using receiver = await startRawReceiver((socket) => socket.write(okResponse), {
      wrap: (onSocket) => createServer({ cert, key, SNICallback: choose }, onSocket),
    });
    const urls = Array.from({ length: 400 }, (_, n) => `https://callback.test:${receiver.port}/${n}`);
    const outcomes = await outcomesOf(cert, ...urls);
    expect(outcomes.filter(({ kind }) => kind !== 'delivered')).toEqual([]);
    // 32, and those that were held up for so long that others came.
    expect(connectingMax).toBeLessThan(200);
  });

  it('refuses a certificate for another name', async () => {
    await using receiver = await startTlsReceiver();
    const outcomes = await outcomesOf(
      cert,
      `https://other.test:${receiver.port}/`,
      `https://127.0.0.1:${receiver.port}/`,
    );
    expect(outcomes).toMatchObject([{ code: 'tls_error' }, { code: 'tls_error' }]);
    expect(receiver.requests).toEqual([]);
  });

  it('refuses a certificate that nobody vouches for', async () => {
    await using receiver = await startTlsReceiver();
    expect(await outcomesOf(undefined, `https://callback.test:${receiver.port}/`)).toMatchObject([
      { code: 'tls_error' },
    ]);
    expect(receiver.requests).toEqual([]);
  });

  it('to a port that speaks something else is a TLS error', async () => {
    await using receiver = await startRawReceiver(() => {}, {
      wrap: (onSocket) =>
        createPlainServer((socket) => {
          onSocket(socket);
          socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
        }),
    });
    expect(await outcomesOf(cert, `https://callback.test:${receiver.port}/`)).toMatchObject([
      { code: 'tls_error' },
    ]);
  });

  it('reset on a reused connection is sent again at once, on a new connection it is not', async () => {
    const client = createTestClient(cert);
    await using receiver = await startTlsReceiver((socket, n) => {
      if (n === 2 || n === 4) socket.destroy();
      else socket.write(okResponse);
    });
    const outcomes: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const request = {
        url: `https://callback.test:${receiver.port}/`,
        headers: {},
        body: Buffer.from('{}'),
      };
      // One after the other: the second finds the connection of the first, free by then; the third has to dial.
      // oxlint-disable no-await-in-loop
      outcomes.push(classifyOutcome(await client.post(request)).code);
      await turn();
      // oxlint-enable no-await-in-loop
    }
    await client.close();
    expect(outcomes).toEqual(['delivered', 'delivered', 'connection_reset']);
    expect([receiver.requests.length, receiver.connections()]).toEqual([4, 3]);
  });
});
