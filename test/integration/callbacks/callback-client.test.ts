import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import type { CallbackClient, CallbackClientOptions } from '../../../src/callbacks/callback-client.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';

const okResponse = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const body = Buffer.from('{"type":"ping","note":"ü"}');

function openClient(options: Partial<CallbackClientOptions> = {}): CallbackClient & AsyncDisposable {
  const client = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8', '::1/128'] }),
    allowHttp: true,
    timeoutMs: 5000,
    userAgent: 'filing-webhooks/test',
    ...options,
  });
  return {
    post: (request) => client.post(request),
    abortAll: () => client.abortAll(),
    close: () => client.close(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a request', () => {
  it('is one POST with the exact bytes, our headers and no offer to decompress', async () => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient();
    await client.post({
      url: `${receiver.url}/a%20b?x=1&y=%2F`,
      headers: { 'webhook-id': 'evt_1', 'X-Api-Key': 'k' },
      body,
    });
    const [head = '', sent] = (receiver.requests[0] ?? '').split('\r\n\r\n');
    const [requestLine, ...headers] = head.split('\r\n');
    expect(requestLine).toBe('POST /hook/a%20b?x=1&y=%2F HTTP/1.1');
    expect(headers.toSorted()).toEqual([
      'X-Api-Key: k',
      'connection: keep-alive',
      `content-length: ${body.length}`,
      'content-type: application/json',
      `host: 127.0.0.1:${receiver.port}`,
      'user-agent: filing-webhooks/test',
      'webhook-id: evt_1',
    ]);
    expect(Buffer.from(sent ?? '', 'latin1').equals(body)).toBe(true);
  });

  it('takes its content type from the caller if there is one, and its body from any bytes', async () => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient();
    const bytes = new Uint8Array([120, 0x7b, 0x7d, 120]).subarray(1, 3);
    await client.post({
      url: receiver.url,
      headers: { 'content-type': 'application/cloudevents+json' },
      body: bytes,
    });
    expect(receiver.requests[0]).toContain('\r\ncontent-type: application/cloudevents+json\r\n');
    expect(receiver.requests[0]).not.toContain('application/json\r\n');
    expect(receiver.requests[0]?.endsWith('\r\n\r\n{}')).toBe(true);
  });

  it('ignores the proxy environment', async () => {
    await using proxy = await startRawReceiver((socket) => socket.end(okResponse));
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    await using client = openClient();
    await client.post({ url: receiver.url, headers: {}, body });
    expect([receiver.requests.length, proxy.connections()]).toEqual([1, 0]);
  });

  it('that cannot be sent is charged to the sender', async () => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient();
    const result = await client.post({ url: receiver.url, headers: { 'x-a': 'a\r\nb: c' }, body });
    expect(result).toMatchObject({ kind: 'failure', code: 'sender_error' });
    expect(receiver.requests).toEqual([]);
  });
});

describe('an answer', () => {
  it('comes with its status, Retry-After, body and times', async () => {
    await using receiver = await startRawReceiver((socket) =>
      socket.write('HTTP/1.1 503 Busy\r\nRetry-After: 7\r\ncontent-length: 4\r\n\r\nwait'),
    );
    await using client = openClient();
    const before = Date.now();
    const result = await client.post({ url: receiver.url, headers: {}, body });
    expect(result).toMatchObject({
      kind: 'response',
      statusCode: 503,
      retryAfter: '7',
      excerpt: 'wait',
      body: 'complete',
    });
    expect(result.kind === 'response' && result.receivedAtMs - before).toBeGreaterThanOrEqual(0);
    expect(result.durationMs).toBeGreaterThan(0);
  });

  it('may be empty, or end with the connection', async () => {
    const answers = ['HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.0 200 OK\r\n\r\nbye'];
    await using receiver = await startRawReceiver((socket, n) => socket.end(answers[n - 1] ?? ''));
    await using client = openClient();
    const first = await client.post({ url: receiver.url, headers: {}, body });
    const second = await client.post({ url: receiver.url, headers: {}, body });
    expect(first).toMatchObject({ statusCode: 204, excerpt: '', body: 'complete' });
    expect(second).toMatchObject({ statusCode: 200, excerpt: 'bye', body: 'complete' });
  });

  it('is kept without the half of a character', async () => {
    await using receiver = await startRawReceiver((socket) => {
      socket.end(`HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\na${'€'.repeat(1_000)}`);
    });
    await using client = openClient();
    const result = await client.post({ url: receiver.url, headers: {}, body });
    expect(result).toMatchObject({ body: 'complete', excerpt: `a${'€'.repeat(341)}` });
  });

  it('is kept up to its first 1 KiB, even if it comes in pieces or is no text', async () => {
    await using receiver = await startRawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3003\r\n\r\n');
      socket.write(Buffer.from([0xff, 0xc3, 0x00]));
      for (let i = 0; i < 30; i++) setImmediate(() => socket.write('x'.repeat(100)));
    });
    await using client = openClient();
    const result = await client.post({ url: receiver.url, headers: {}, body });
    expect(result).toMatchObject({ body: 'complete', excerpt: `\ufffd\ufffd\0${'x'.repeat(1021)}` });
  });
});

describe('connections', () => {
  it('are used again, a second one at most because undici returns one a turn after its answer', async () => {
    await using receiver = await startRawReceiver((socket) => socket.write(okResponse));
    await using client = openClient();
    const post = (): Promise<unknown> => client.post({ url: receiver.url, headers: {}, body });
    await post().then(post).then(post).then(post).then(post);
    expect(receiver.requests).toHaveLength(5);
    expect(receiver.connections()).toBeLessThanOrEqual(2);
  });

  it('are as many to one host as callbacks are under way', async () => {
    const waiting: (() => void)[] = [];
    await using receiver = await startRawReceiver((socket) => {
      waiting.push(() => socket.write(okResponse));
      if (waiting.length === 100) for (const answer of waiting) answer();
    });
    await using client = openClient();
    const posts = Array.from({ length: 100 }, () => client.post({ url: receiver.url, headers: {}, body }));
    const results = await Promise.all(posts);
    expect(results.every((result) => result.kind === 'response' && result.statusCode === 200)).toBe(true);
    expect(receiver.connections()).toBe(100);
  });

  it('are not kept once there are enough of them', async () => {
    await using receiver = await startRawReceiver((socket) => socket.write(okResponse));
    await using client = openClient({ keptSocketsMax: 2 });
    const posts = Array.from({ length: 5 }, () => client.post({ url: receiver.url, headers: {}, body }));
    await Promise.all(posts);
    await vi.waitFor(() => expect(receiver.open()).toBe(2));
    expect(receiver.connections()).toBe(5);
  });

  it('are kept however many others wait for an answer', async () => {
    await using receiver = await startRawReceiver((socket, number) => {
      if (number > 5) socket.write(okResponse);
    });
    await using client = openClient({ keptSocketsMax: 2, timeoutMs: 60_000 });
    const hanging = Array.from({ length: 5 }, () => client.post({ url: receiver.url, headers: {}, body }));
    const closed = Promise.allSettled(hanging);
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(5));
    const post = (): Promise<unknown> => client.post({ url: receiver.url, headers: {}, body });
    await post().then(turn).then(post).then(turn).then(post);
    expect(receiver.connections()).toBeLessThanOrEqual(7);
    await client.close();
    await closed;
  });

  it('are all closed by close(), and nothing is sent after it', async () => {
    await using receiver = await startRawReceiver((socket) => socket.write(okResponse));
    const client = openClient();
    await client.post({ url: receiver.url, headers: {}, body });
    await client.close();
    await vi.waitFor(() => expect(receiver.open()).toBe(0));
    await expect(client.post({ url: receiver.url, headers: {}, body })).rejects.toThrow('destroyed');
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('an abort of all', () => {
  it('ends what waits for an answer as aborted, sent or not, and drops the connections', async () => {
    await using receiver = await startRawReceiver(() => undefined);
    await using client = openClient({ timeoutMs: 60_000 });
    const post = () => client.post({ url: receiver.url, headers: {}, body });
    const waiting = [post(), post()];
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(2));
    const dialling = post();
    client.abortAll();
    const aborted = { kind: 'failure', code: 'aborted' };
    expect(await Promise.all(waiting)).toMatchObject([1, 2].map(() => ({ ...aborted, sent: true })));
    expect(await dialling).toMatchObject({ ...aborted, sent: false });
    await vi.waitFor(() => expect(receiver.open()).toBe(0));
  });

  it('sends nothing afterwards', async () => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient();
    client.abortAll();
    const result = await client.post({ url: receiver.url, headers: {}, body });
    expect(result).toMatchObject({ kind: 'failure', code: 'aborted', sent: false });
    expect(receiver.connections()).toBe(0);
  });

  it('does not take an answer away whose body has not ended', async () => {
    let hasAnswered = false;
    await using receiver = await startRawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok', () => (hasAnswered = true));
    });
    await using client = openClient();
    const posted = client.post({ url: receiver.url, headers: {}, body });
    await vi.waitFor(() => expect(hasAnswered).toBe(true));
    setTimeout(() => client.abortAll(), 50);
    expect(await posted).toMatchObject({ statusCode: 200, excerpt: 'ok', body: 'cut' });
  });
});

describe('the process', () => {
  it('hears of no unhandled error when a connection dies while idle', async () => {
    await using receiver = await startRawReceiver((socket) => {
      socket.write(okResponse);
      setImmediate(() => socket.resetAndDestroy());
    });
    await using client = openClient();
    const result = await client.post({ url: receiver.url, headers: {}, body });
    await vi.waitFor(() => expect(receiver.open()).toBe(0));
    await turn();
    expect(result).toMatchObject({ statusCode: 200 });
  });
});
