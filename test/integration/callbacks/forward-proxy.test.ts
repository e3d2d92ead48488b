import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { Server } from 'proxy-chain';
import { describe, expect, it } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { classifyOutcome } from '../../../src/callbacks/outcome.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { parseNoProxy } from '../../../src/proxy/no-proxy.ts';
import { parseProxyAddress } from '../../../src/proxy/proxy-address.ts';
import { createTunnels, type Tunnels, type TunnelsDeps } from '../../../src/proxy/tunnels.ts';
import { startDeafListener } from '../../support/connections/deaf-listener.ts';
import { startForwardProxy, status, type ConnectAnswer } from '../../support/connections/forward-proxy.ts';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';

const cert = readFileSync(new URL('fixtures/callback-test-cert.pem', import.meta.url), 'utf8');
const key = readFileSync(new URL('fixtures/callback-test-key.pem', import.meta.url), 'utf8');
const loopback = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const delivered = { kind: 'delivered', code: 'delivered' };

function tunnelsTo(url: string, options: Partial<TunnelsDeps> & { readonly direct?: string } = {}): Tunnels {
  const parsed = parseProxyAddress(url);
  if (!parsed.ok) throw new Error(parsed.problem);
  return createTunnels({
    proxy: parsed.value,
    noProxy: parseNoProxy(options.direct ?? ''),
    resolves: false,
    lookup: loopback,
    timeoutMs: 2_000,
    random: () => 0.5,
    ...options,
  });
}

function clientThrough(
  tunnels: Tunnels,
  options: { readonly cidrs?: string[]; readonly timeoutMs?: number } = {},
) {
  return createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: options.cidrs ?? ['127.0.0.0/8'] }),
    allowHttp: true,
    timeoutMs: options.timeoutMs ?? 2_000,
    userAgent: 'test',
    lookup: loopback,
    ca: cert,
    tunnels,
  });
}

async function outcomesOf(tunnels: Tunnels, urls: readonly string[], options = {}): Promise<unknown[]> {
  const client = clientThrough(tunnels, options);
  const outcomes: unknown[] = [];
  try {
    for (const url of urls) {
      // oxlint-disable no-await-in-loop
      outcomes.push(classifyOutcome(await client.post({ url, headers: {}, body: Buffer.from('{}') })));
      // The connection is free a turn after its response.
      await turn();
      // oxlint-enable no-await-in-loop
    }
  } finally {
    await client.close();
    await tunnels.close();
  }
  return outcomes;
}

const startTlsReceiver = () =>
  startRawReceiver((socket) => socket.write(answer), {
    wrap: (onSocket) => createServer({ cert, key }, onSocket).on('tlsClientError', () => {}),
  });

describe('a slow connection', () => {
  it('to the proxy is waited for at the first of two addresses', async () => {
    await using receiver = await startRawReceiver((socket) => socket.write(answer));
    await using proxy = await startForwardProxy();
    await using hole = await startDeafListener('127.0.0.2', proxy.port);
    const lookup = () =>
      Promise.resolve([
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const tunnels = tunnelsTo(`http://proxy.example.com:${hole.port}`, { lookup });
    expect(await outcomesOf(tunnels, [receiver.url])).toEqual([delivered]);
  });

  it('of the proxy to one address of the endpoint does not keep it from the next', async () => {
    await using receiver = await startRawReceiver((socket) => socket.write(answer));
    await using proxy = await startForwardProxy();
    proxy.answer(({ authority }) => (authority.startsWith('127.0.0.2') ? 'hang' : 'tunnel'));
    const client = createCallbackClient({
      policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
      allowHttp: true,
      timeoutMs: 4_000,
      userAgent: 'test',
      lookup: () =>
        Promise.resolve([
          { address: '127.0.0.2', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
      tunnels: tunnelsTo(proxy.url, { timeoutMs: 4_000 }),
    });
    const url = `http://hooks.example.com:${receiver.port}/hook`;
    const result = await client.post({ url, headers: {}, body: Buffer.from('{}') });
    expect(classifyOutcome(result)).toEqual(delivered);
    await client.close();
  });
});

describe('through a forward proxy', () => {
  it('https and http go by CONNECT to the vetted address, and one tunnel serves several callbacks', async () => {
    await using secure = await startTlsReceiver();
    await using plain = await startRawReceiver((socket) =>
      socket.write(`HTTP/1.1 100 Continue\r\n\r\n${answer}`),
    );
    await using proxy = await startForwardProxy();
    const urls = [
      `https://callback.test:${secure.port}/a`,
      `https://callback.test:${secure.port}/b`,
      `http://plain.test:${plain.port}/c`,
    ];
    expect(await outcomesOf(tunnelsTo(proxy.url), urls)).toEqual([delivered, delivered, delivered]);
    const [first, second] = [`127.0.0.1:${secure.port}`, `127.0.0.1:${plain.port}`];
    expect(proxy.connects.map(({ authority }) => authority)).toEqual([first, second]);
    expect(proxy.connects[0]?.head).toBe(
      `CONNECT ${first} HTTP/1.1\r\nhost: ${first}\r\nuser-agent: filing-webhooks\r\nconnection: keep-alive\r\n\r\n`,
    );
    expect(plain.requests[0]).toMatch(/^POST \/c HTTP\/1\.1\r\nhost: plain\.test:/);
  });

  it('verifies the certificate of the endpoint in the tunnel', async () => {
    await using secure = await startTlsReceiver();
    await using proxy = await startForwardProxy();
    const urls = [`https://other.test:${secure.port}/`];
    expect(await outcomesOf(tunnelsTo(proxy.url), urls)).toMatchObject([
      { kind: 'retry', code: 'tls_error' },
    ]);
    expect(secure.requests).toEqual([]);
  });

  it('proxy-chain takes the credentials, over TLS too, and its 407 is the own trouble of the proxy', async () => {
    await using secure = await startTlsReceiver();
    const options = { host: '127.0.0.1', port: 0, verbose: false };
    const prepareRequestFunction = ({ username, password }: { username: string; password: string }) => ({
      requestAuthentication: username !== 'us:er' && !(username === 'user' && password === 'p@ss wörd'),
    });
    const http = new Server({ ...options, prepareRequestFunction });
    const https = new Server({
      ...options,
      prepareRequestFunction,
      serverType: 'https',
      httpsOptions: { cert, key },
    });
    await Promise.all([http.listen(), https.listen()]);
    const urls = [`https://callback.test:${secure.port}/a`];
    try {
      for (const [url, expected] of [
        [`http://user:p%40ss%20w%C3%B6rd@127.0.0.1:${http.port}`, delivered],
        [`https://user:p%40ss%20w%C3%B6rd@callback.test:${https.port}`, delivered],
        [`http://user:wrong@127.0.0.1:${http.port}`, { kind: 'held', code: 'proxy_error' }],
        [`http://127.0.0.1:${http.port}`, { kind: 'held', code: 'proxy_error' }],
      ] as const)
        // oxlint-disable-next-line no-await-in-loop
        expect(await outcomesOf(tunnelsTo(url, { ca: cert }), urls), url).toMatchObject([expected]);
    } finally {
      await Promise.all([http.close(true), https.close(true)]);
    }
  });

  it('a private address is refused before the proxy hears of it', async () => {
    await using proxy = await startForwardProxy();
    const urls = ['https://callback.test/', 'https://10.0.0.1/', 'https://[::1]:8443/'];
    const refused = { kind: 'retry', code: 'blocked_address', sent: false };
    for (const resolves of [false, true])
      // oxlint-disable-next-line no-await-in-loop
      expect(await outcomesOf(tunnelsTo(proxy.url, { resolves }), urls, { cidrs: [] })).toMatchObject([
        refused,
        refused,
        refused,
      ]);
    expect(proxy.connects).toEqual([]);
  });

  it('asks for the name where the proxy resolves names, also when this machine knows no address', async () => {
    await using plain = await startRawReceiver((socket) => socket.write(answer));
    await using proxy = await startForwardProxy();
    const tunnels = tunnelsTo(proxy.url, { resolves: true });
    const client = createCallbackClient({
      policy: createEgressPolicy({ allowCidrs: [] }),
      allowHttp: true,
      timeoutMs: 2_000,
      userAgent: 'test',
      lookup: () => Promise.reject(Object.assign(new Error('no server'), { code: 'EAI_AGAIN' })),
      tunnels,
    });
    const url = `http://plain.test:${plain.port}/`;
    const result = await client.post({ url, headers: {}, body: Buffer.from('{}') });
    await client.close();
    expect(classifyOutcome(result)).toEqual(delivered);
    expect(proxy.connects.map(({ authority }) => authority)).toEqual([`plain.test:${plain.port}`]);
  });

  it('NO_PROXY passes by the proxy, under the same policy', async () => {
    await using plain = await startRawReceiver((socket) => socket.write(answer));
    await using proxy = await startForwardProxy();
    const urls = [`http://plain.test:${plain.port}/`];
    expect(await outcomesOf(tunnelsTo(proxy.url, { direct: '.test' }), urls)).toEqual([delivered]);
    expect(await outcomesOf(tunnelsTo(proxy.url, { direct: '.test' }), urls, { cidrs: [] })).toMatchObject([
      { code: 'blocked_address' },
    ]);
    expect(proxy.connects).toEqual([]);
  });
});

describe('a proxy that fails', () => {
  const cases: readonly [string, ConnectAnswer, object][] = [
    [
      '403',
      status(403),
      { kind: 'retry', code: 'proxy_refused', sent: false, reason: /does not permit.*\(403\)/ },
    ],
    [
      '502',
      status(502),
      { kind: 'retry', code: 'proxy_refused', sent: false, reason: /could not connect.*\(502\)/ },
    ],
    ['503', status(503), { kind: 'retry', code: 'proxy_refused' }],
    ['504', status(504), { kind: 'retry', code: 'proxy_refused' }],
    [
      'an end without an answer',
      'close',
      { kind: 'retry', code: 'proxy_refused', reason: /without an answer/ },
    ],
    ['no answer', 'hang', { kind: 'retry', code: 'proxy_refused', reason: /in time/ }],
    ['407', status(407), { kind: 'held', code: 'proxy_error', reason: /credentials/ }],
    ['garbage', { bytes: 'SSH-2.0-OpenSSH_9.9\r\n' }, { kind: 'held', code: 'proxy_error', reason: /HTTP/ }],
    [
      'endless headers',
      { bytes: `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}` },
      { kind: 'held', code: 'proxy_error', reason: /too large/ },
    ],
  ];
  it.each(cases)('by %s is told apart from the endpoint', async (_, decided, expected) => {
    await using proxy = await startForwardProxy();
    proxy.answer(() => decided);
    const url = 'https://callback.test:8443/secret-path';
    const [outcome] = await outcomesOf(
      tunnelsTo(`http://user:p4ss@127.0.0.1:${proxy.port}`, { timeoutMs: 400 }),
      [url],
    );
    const { reason = '', ...rest } = expected as { reason?: string | RegExp };
    expect(outcome).toMatchObject({ ...rest, reason: expect.stringMatching(reason) as string });
    expect(JSON.stringify(outcome)).not.toMatch(/p4ss|Text of the proxy|127\.0\.0\.1|secret-path/);
    await expect.poll(() => proxy.open()).toBe(0);
  });

  it('by its connection, its name or its certificate is the own trouble of the proxy', async () => {
    const proxy = await startForwardProxy({ cert, key });
    const urls = ['https://callback.test:8443/'];
    const lookup = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
    const held = (reason: RegExp) => [
      { kind: 'held', code: 'proxy_error', reason: expect.stringMatching(reason) as string },
    ];
    expect(await outcomesOf(tunnelsTo(`https://callback.test:${proxy.port}`), urls)).toMatchObject(
      held(/TLS/),
    );
    expect(await outcomesOf(tunnelsTo('http://proxy.test:3128', { lookup }), urls)).toMatchObject(
      held(/name/),
    );
    await proxy[Symbol.asyncDispose]();
    expect(await outcomesOf(tunnelsTo(`http://127.0.0.1:${proxy.port}`), urls)).toMatchObject(
      held(/reached/),
    );
  });

  it('begins an outage with its own trouble: nothing is sent to it but one probe at a time, until it is back', async () => {
    await using proxy = await startForwardProxy();
    await using plain = await startRawReceiver((socket) => socket.write(answer));
    const outages: (string | null)[] = [];
    const tunnels = tunnelsTo(proxy.url, { onOutage: (outage) => outages.push(outage?.reason ?? null) });
    const client = clientThrough(tunnels);
    const post = async (name: string) =>
      classifyOutcome(
        await client.post({
          url: `http://${name}.test:${plain.port}/`,
          headers: {},
          body: Buffer.from('{}'),
        }),
      );
    await proxy.stop();
    expect(await post('a')).toMatchObject({ kind: 'held' });
    await proxy.start();
    expect(await Promise.all(['a', 'b', 'c'].map(post))).toMatchObject(
      Array.from({ length: 3 }, () => ({ kind: 'held' })),
    );
    expect(proxy.connects).toEqual([]);
    expect(outages).toEqual(['unreachable']);
    await expect.poll(() => outages).toEqual(['unreachable', null]);
    expect(proxy.connects).toHaveLength(1);
    expect(await post('b')).toEqual(delivered);
    await client.close();
  });
});
