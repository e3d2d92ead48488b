import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { classifyOutcome, keptReason } from '../../../src/callbacks/outcome.ts';
import type { CallbackOutcome } from '../../../src/callbacks/outcome.ts';
import type { CallbackResult } from '../../../src/callbacks/result.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';
import type { RawReceiver } from '../../support/receivers/raw-receiver.ts';

const okHead = 'HTTP/1.1 200 OK\r\n';
const okResponse = `${okHead}content-length: 2\r\n\r\nok`;

interface Seen {
  readonly result: CallbackResult;
  readonly outcome: CallbackOutcome;
  readonly receiver: RawReceiver;
}

/**
 * Posts to a receiver that answers so, if `again` a second time on the connection of the first, and looks at
 * the last result.
 */
async function postTo(
  answer: (socket: Socket, requestNumber: number) => void,
  look: (seen: Seen) => void | Promise<void>,
  { timeoutMs = 5000, again = false } = {},
): Promise<void> {
  await using receiver = await startRawReceiver(answer);
  const client = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
    allowHttp: true,
    timeoutMs,
    userAgent: 'test',
  });
  try {
    const post = (): Promise<CallbackResult> =>
      client.post({ url: receiver.url, headers: {}, body: Buffer.from('{}') });
    const first = await post();
    // undici gives a connection back one turn of the event loop after the answer.
    if (again) await turn().then(() => turn());
    const result = again ? await post() : first;
    await look({ result, outcome: classifyOutcome(result), receiver });
  } finally {
    await client.close();
  }
}

async function closed(receiver: RawReceiver): Promise<void> {
  await vi.waitFor(() => expect(receiver.open()).toBe(0), { timeout: 2000 });
}

/** Writes the same bytes for as long as the other side reads them, and counts them. */
function flood(socket: Socket, bytes: string | Buffer, count: { written: number }): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(bytes)) count.written += bytes.length;
  };
  socket.on('drain', more);
  more();
}

describe('statuses', () => {
  it('410 means gone', () =>
    postTo(
      (socket) => socket.end('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'),
      ({ outcome }) => expect(outcome.kind).toBe('gone'),
    ));

  it.each([
    ['30', 30_000],
    ['99999999', 3_600_000],
  ])('429 with Retry-After: %s slows down', (value, retryAfterMs) =>
    postTo(
      (socket) => socket.end(`HTTP/1.1 429 Slow\r\nRetry-After: ${value}\r\ncontent-length: 0\r\n\r\n`),
      ({ outcome }) => expect(outcome).toMatchObject({ kind: 'slow_down', retryAfterMs }),
    ),
  );

  it('429 with two Retry-After headers is an ordinary failure', () =>
    postTo(
      (socket) =>
        socket.end('HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nRetry-After: 9\r\ncontent-length: 0\r\n\r\n'),
      ({ outcome }) => expect(outcome.code).toBe('http_error'),
    ));

  it.each([301, 302, 303, 307, 308])('%d is a failure and its target is never touched', async (status) => {
    await using canary = await startRawReceiver((socket) => socket.end(okResponse));
    await postTo(
      (socket) =>
        socket.end(`HTTP/1.1 ${status} Moved\r\nLocation: ${canary.url}\r\ncontent-length: 0\r\n\r\n`),
      ({ outcome }) => expect(outcome).toMatchObject({ kind: 'retry', code: 'redirect' }),
    );
    expect(canary.connections()).toBe(0);
  });
});

describe('time', () => {
  it('a 200 after the deadline is a timeout and its connection is not used again', () =>
    postTo(
      (socket) => setTimeout(() => socket.write(okResponse), 1000),
      async ({ outcome, result, receiver }) => {
        expect(outcome).toMatchObject({ kind: 'retry', code: 'timeout' });
        expect(result.durationMs).toBeGreaterThanOrEqual(99);
        expect(result.durationMs).toBeLessThan(900);
        await closed(receiver);
      },
      { timeoutMs: 100 },
    ));

  it('headers that drip never reset the deadline', () =>
    postTo(
      (socket) => {
        socket.write(okHead);
        const timer = setInterval(() => socket.write('x-a: b\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      },
      async ({ outcome, receiver }) => {
        expect(outcome.code).toBe('timeout');
        await closed(receiver);
      },
      { timeoutMs: 150 },
    ));

  it('a body that drips is cut off at the deadline; the 200 before it counts', () =>
    postTo(
      (socket) => {
        socket.write(`${okHead}content-length: 1000000\r\n\r\n`);
        const timer = setInterval(() => socket.write('.'), 20);
        socket.on('close', () => clearInterval(timer));
      },
      async ({ outcome, result, receiver }) => {
        expect(outcome.kind).toBe('delivered');
        expect(result).toMatchObject({ kind: 'response', body: 'cut' });
        expect(result.durationMs).toBeLessThan(2000);
        await closed(receiver);
      },
      { timeoutMs: 150 },
    ));

  it('a receiver that never reads or answers is a timeout', () =>
    postTo(
      (socket) => socket.pause(),
      ({ outcome }) => expect(outcome.code).toBe('timeout'),
      { timeoutMs: 100 },
    ));
});

describe('broken connections', () => {
  it('closed before the headers is a reset', () =>
    postTo(
      (socket) => socket.end(),
      ({ outcome }) => expect(outcome).toMatchObject({ kind: 'retry', code: 'connection_reset' }),
    ));

  it('closed within the headers is a reset', () =>
    postTo(
      (socket) => socket.end(`${okHead}content-le`),
      ({ outcome }) => expect(outcome.code).toBe('connection_reset'),
    ));

  it('closed after the headers of a 200 is delivered', () =>
    postTo(
      (socket) => socket.end(`${okHead}content-length: 10\r\n\r\nhalf`),
      ({ outcome, result }) => {
        expect(outcome.kind).toBe('delivered');
        expect(result).toMatchObject({ excerpt: 'half', body: 'broken' });
      },
    ));

  it('closed after the headers of a 500 is that 500', () =>
    postTo(
      (socket) => socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 10\r\n\r\nhalf'),
      ({ outcome }) => expect(outcome.code).toBe('http_error'),
    ));

  it('reset at once is a reset', () =>
    postTo(
      (socket) => socket.resetAndDestroy(),
      ({ outcome }) => expect(outcome.code).toBe('connection_reset'),
    ));

  it('reset on a reused socket is sent again at once, on a new one', () =>
    postTo(
      (socket, n) => (n === 2 ? socket.resetAndDestroy() : socket.write(okResponse)),
      ({ outcome, receiver }) => {
        expect(outcome.kind).toBe('delivered');
        expect(receiver.requests[2]).toContain('connection: close');
        expect([receiver.requests.length, receiver.connections()]).toEqual([3, 2]);
      },
      { again: true },
    ));

  it('closed on a reused socket, too', () =>
    postTo(
      (socket, n) => (n === 2 ? socket.end() : socket.write(okResponse)),
      ({ outcome, receiver }) => {
        expect(outcome.kind).toBe('delivered');
        expect([receiver.requests.length, receiver.connections()]).toEqual([3, 2]);
      },
      { again: true },
    ));

  it('reset once more on the new one is a failure, not sent a third time', () =>
    postTo(
      (socket, n) => (n === 1 ? socket.write(okResponse) : socket.resetAndDestroy()),
      ({ outcome, receiver }) => {
        expect(outcome).toMatchObject({ kind: 'retry', code: 'connection_reset', sent: true });
        expect([receiver.requests.length, receiver.connections()]).toEqual([3, 2]);
      },
      { again: true },
    ));

  it('reset within the answer on a reused socket is a failure at once', () =>
    postTo(
      (socket, n) => {
        socket.write(n === 1 ? okResponse : okHead);
        if (n > 1) setTimeout(() => socket.resetAndDestroy(), 20);
      },
      ({ outcome, receiver }) => {
        expect(outcome.code).toBe('connection_reset');
        expect(receiver.requests).toHaveLength(2);
      },
      { again: true },
    ));

  it('closed while idle is replaced without a failure', () =>
    postTo(
      (socket) => socket.end(okResponse),
      ({ outcome, receiver }) => {
        expect(outcome.kind).toBe('delivered');
        expect(receiver.connections()).toBe(2);
      },
      { again: true },
    ));

  it('an unasked second answer is not taken for the answer to the next request', () =>
    postTo(
      (socket, n) => socket.write(n === 1 ? okResponse + okResponse.replace('200', '299') : okResponse),
      ({ result }) => expect(result).toMatchObject({ statusCode: 200 }),
      { again: true },
    ));
});

describe('size', () => {
  it.each([
    ['of a declared length', 'content-length: 1000000000', (data: Buffer) => data],
    ['in chunks', 'transfer-encoding: chunked', chunked],
    ['without a length', 'connection: close', (data: Buffer) => data],
  ])('a 1 GB body %s is cut off after 16 KiB', async (_, header, encode) => {
    const count = { written: 0 };
    await postTo(
      (socket) => {
        socket.write(`${okHead}${header}\r\n\r\n`);
        flood(socket, encode(Buffer.alloc(65_536, 'a')), count);
      },
      async ({ outcome, result, receiver }) => {
        expect(outcome.kind).toBe('delivered');
        expect(result).toMatchObject({ excerpt: 'a'.repeat(1024), body: 'cut' });
        await closed(receiver);
      },
    );
    // What fits into the buffers of both sockets, and nothing like the whole.
    expect(count.written).toBeLessThan(20_000_000);
  });

  it('a gzip bomb stays folded', () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    return postTo(
      (socket) => {
        socket.write(`${okHead}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
        socket.write(bomb);
      },
      ({ outcome, result }) => {
        expect(outcome.kind).toBe('delivered');
        expect(result).toMatchObject({ excerpt: bomb.subarray(0, 1024).toString() });
      },
    );
  });

  it('a flood of headers is too large', async () => {
    const count = { written: 0 };
    await postTo(
      (socket) => {
        socket.write(okHead);
        flood(socket, 'x-flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n', count);
      },
      async ({ outcome, receiver }) => {
        expect(outcome).toMatchObject({ kind: 'retry', code: 'response_too_large' });
        await closed(receiver);
      },
    );
    expect(count.written).toBeLessThan(20_000_000);
  });

  it('one endless header is too large', () =>
    postTo(
      (socket) => {
        socket.write(`${okHead}x-flood: `);
        flood(socket, 'a'.repeat(1000), { written: 0 });
      },
      ({ outcome }) => expect(outcome.code).toBe('response_too_large'),
    ));

  it('an endless reason phrase does not grow without bounds', () =>
    postTo(
      (socket) => {
        socket.write('HTTP/1.1 200 ');
        flood(socket, 'a'.repeat(1000), { written: 0 });
      },
      ({ outcome }) => expect(outcome.kind).toBe('retry'),
      { timeoutMs: 300 },
    ));
});

describe('nonsense', () => {
  it('invalid chunking after a 200 is delivered', () =>
    postTo(
      (socket) => socket.write(`${okHead}transfer-encoding: chunked\r\n\r\nZZ\r\nnope\r\n`),
      async ({ outcome, result, receiver }) => {
        expect(outcome.kind).toBe('delivered');
        expect(result).toMatchObject({ body: 'broken' });
        await closed(receiver);
      },
    ));

  const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
  const up = 'connection: upgrade\r\nupgrade: websocket\r\n\r\n';
  it.each([
    ['text', 'hello\r\n\r\n', '(Expected HTTP/, RTSP/ or ICE/).'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', '(Expected HTTP/'],
    ['an unknown version', 'HTTP/7.3 200 OK\r\n\r\n', '(Invalid HTTP version).'],
    ['a status of four digits', 'HTTP/1.1 1000 OK\r\n\r\n', '(Invalid response status).'],
    ['a header without a name', `${okHead}a: b\r\n: x\r\nc: d\r\n\r\n`, '(Invalid header token).'],
    ['a space in a name', `${okHead}a: b\r\nx bad: x\r\n\r\n`, '(Invalid header token).'],
    ['a NUL in a header', `${okHead}x-a: a\0b\r\nc: d\r\n\r\n`, '(Invalid header value char).'],
    ['letters beyond ASCII in a name', `${okHead}é: b\r\n\r\n`, '(Invalid header token).'],
    ['a folded header', `${okHead}x-a: b\r\n c\r\n\r\n`, '(Unexpected whitespace after header value).'],
    ['two lengths', `${okHead}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, 'is there twice'],
    ['a negative length', `${okHead}content-length: -1\r\n\r\n`, '(Invalid character in Content-Length).'],
    [
      'a length beside chunking',
      `${okHead}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      'stands beside Transfer-Encoding',
    ],
    [
      'an unasked upgrade',
      `HTTP/1.1 101 Switching\r\n${up}`,
      '101 Switching Protocols, which was not asked for',
    ],
    ['an unasked upgrade after a 100', `${goOn}HTTP/1.1 101 Switching\r\n${up}`, '101 Switching Protocols'],
  ])('%s is malformed, and the reason says why', (_, bytes, reason) =>
    postTo(
      (socket) => socket.write(bytes),
      async ({ outcome, receiver }) => {
        expect(outcome).toMatchObject({ kind: 'retry', code: 'malformed_response' });
        expect(keptReason(outcome)).toContain(reason);
        await closed(receiver);
      },
    ),
  );

  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n';
  it.each([
    ['early hints and processing', interim],
    ['an unasked 100', goOn],
    ['a 100 with headers', 'HTTP/1.1 100 Continue\r\ndate: now\r\nx-a: 1\r\n\r\n'],
    ['a 100 without a phrase, in an old version', 'HTTP/1.0 100\r\n\r\n'],
    ['a 100 after empty lines', `\r\n\r\n${goOn}\r\n`],
    ['a 100 that says it closes', 'HTTP/1.1 100 Continue\r\nconnection: close\r\n\r\n'],
    ['a 100 with bare line feeds', 'HTTP/1.1 100 Continue\n\n'],
    ['a 103 with large headers', `HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(1000)}\r\n\r\n`],
    ['a 100 with a length', 'HTTP/1.1 100 Continue\r\ncontent-length: 0\r\n\r\n'],
    ['several of each', `${goOn}${interim}${goOn}${goOn}${interim}`],
    ['hundreds', goOn.repeat(300)],
  ])('interim responses are passed over: %s', async (_, before) => {
    const parts: [string, (socket: Socket) => void][] = [
      ['in one packet', (socket) => socket.write(before + okResponse)],
      ['byte by byte', (socket) => void byteByByte(socket, before + okResponse)],
    ];
    for (const [__, answer] of parts) {
      for (const again of [false, true]) {
        await postTo(
          answer,
          ({ result, receiver }) => {
            expect(result).toMatchObject({ statusCode: 200, excerpt: 'ok', body: 'complete' });
            expect([receiver.requests.length, receiver.connections()]).toEqual(again ? [2, 1] : [1, 1]);
          },
          { again },
        );
      }
    }
  });

  it('the text of an interim response within a body is kept', () =>
    postTo(
      (socket) => {
        socket.write(`${okHead}content-length: ${goOn.length}\r\n\r\n`);
        setImmediate(() => socket.write(goOn));
      },
      ({ result }) => expect(result).toMatchObject({ statusCode: 200, excerpt: goOn }),
    ));

  it('a receiver that ends after an interim response has not answered, and is asked once more', () =>
    postTo(
      (socket, n) => (n === 1 ? socket.write(okResponse) : socket.end(goOn)),
      ({ outcome, receiver }) => {
        expect(outcome.code).toBe('connection_reset');
        expect(receiver.requests).toHaveLength(3);
      },
      { again: true },
    ));

  it.each([goOn, interim])(
    'a flood of interim responses is malformed long before the deadline',
    async (each) => {
      await postTo(
        (socket) => flood(socket, each, { written: 0 }),
        async ({ outcome, result, receiver }) => {
          expect(outcome.code).toBe('malformed_response');
          expect(result.durationMs).toBeLessThan(2000);
          await closed(receiver);
        },
      );
    },
  );
});

function chunked(data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}

async function byteByByte(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay(true);
  for (const byte of text) {
    if (!socket.writable) return;
    socket.write(byte);
    await turn();
  }
}
