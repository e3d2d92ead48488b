import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCallbackClient, type CallbackClient } from '../../../src/callbacks/callback-client.ts';
import { identityOf } from '../../../src/subscriptions/options/tls.ts';
import { classifyOutcome } from '../../../src/callbacks/outcome.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import type { Tls } from '../../../src/subscriptions/options/tls.ts';
import {
  createTestAuthority,
  tlsFrom,
  type Issued,
  type TestAuthority,
} from '../../support/receivers/certificates.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { startMutualReceiver } from '../../support/receivers/mutual-receiver.ts';
import { skipWithout } from '../../support/skip-without.ts';

let authority: TestAuthority;
let stranger: TestAuthority;
let own: Issued;
let [alice, bob, foreign]: Issued[] = [];
const clients: CallbackClient[] = [];

const open = (allowCidrs: string[] = ['127.0.0.0/8']) => openWith({ allowCidrs });

function openWith({ allowCidrs = ['127.0.0.0/8'], ca = '' }): CallbackClient {
  const client = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs }),
    ...(ca !== '' && { ca }),
    allowHttp: true,
    timeoutMs: 5000,
    userAgent: 'test',
    lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  });
  clients.push(client);
  return client;
}

const post = async (
  client: CallbackClient,
  port: number,
  tls: Tls | null,
  path = '/',
  host = 'localhost',
) => {
  const request = {
    url: `https://${host}:${port}${path}`,
    headers: {},
    body: Buffer.from('{}'),
    account: 'a',
  };
  const outcome = classifyOutcome(await client.post({ ...request, identity: identityOf(tls) }));
  // The connection is free once the end of the response was read.
  await turn();
  return outcome;
};

const as = (client: Issued | undefined, ca = authority.cert) =>
  tlsFrom({ ca, ...(client === undefined ? {} : { cert: client.cert, key: client.key }) });

describe.skipIf(skipWithout('openssl'))('identities of connections (skipped without openssl)', () => {
  beforeAll(async () => {
    [authority, stranger] = await Promise.all([createTestAuthority(), createTestAuthority('stranger')]);
    [own, alice, bob, foreign] = await Promise.all([
      authority.issue('endpoint'),
      authority.issue('alice'),
      authority.issue('bob'),
      stranger.issue('mallory'),
    ]);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all([authority, stranger].map((each) => each[Symbol.asyncDispose]()));
  });

  it('never share a connection: each shows its own certificate, in turns and at once', async () => {
    await using receiver = await startMutualReceiver(own, authority.cert, { optional: true });
    const client = open();
    const plain = { ...as(undefined), shown: { cert: null, ca: null } };
    const send = (name: string) =>
      post(
        client,
        receiver.port,
        name === 'alice' ? as(alice) : name === 'bob' ? as(bob) : plain,
        `/${name}`,
      );
    for (let i = 0; i < 3; i += 1) for (const name of ['alice', 'bob', 'none']) await send(name);
    expect(receiver.resumed.length).toBe(3);
    await Promise.all(Array.from({ length: 30 }, (_, i) => send(['alice', 'bob', 'none'][i % 3] ?? '')));
    expect(receiver.requests.length).toBe(39);
    for (const { path, client: shown } of receiver.requests)
      expect(shown).toBe(path === '/none' ? null : path.slice(1));
    const clientOf = new Map<number, string | null>();
    for (const { connection, client: shown } of receiver.requests) {
      expect(clientOf.get(connection) ?? shown).toBe(shown);
      clientOf.set(connection, shown);
    }
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'resume no session, so that each connection shows and checks certificates, over %s',
    async (maxVersion) => {
      await using receiver = await startMutualReceiver(own, authority.cert, { optional: true, maxVersion });
      receiver.closes = true;
      const client = open();
      for (const each of [alice, alice, bob, undefined]) await post(client, receiver.port, as(each));
      expect(receiver.requests.map(({ client: shown }) => shown)).toEqual(['alice', 'alice', 'bob', null]);
      expect(receiver.resumed).toEqual([false, false, false, false]);
    },
  );

  it('belong to one account, also where two accounts have the same', async () => {
    await using receiver = await startMutualReceiver(own, authority.cert);
    const client = open();
    for (const account of ['a', 'b', 'a', 'b']) {
      const url = `https://localhost:${receiver.port}/${account}`;
      await client.post({
        url,
        headers: {},
        body: Buffer.from('{}'),
        account,
        identity: identityOf(as(alice)),
      });
      await turn();
    }
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 2, 1, 2]);
  });

  it('trust their authorities instead of others, and an intermediate one without its root', async () => {
    await using receiver = await startMutualReceiver(own, authority.cert);
    const client = open();
    expect(await post(client, receiver.port, as(alice))).toMatchObject({ kind: 'delivered' });
    expect(await post(client, receiver.port, as(alice, stranger.cert))).toMatchObject({
      code: 'tls_error',
      sent: false,
      reason: expect.stringContaining('authority that is not trusted'),
    });
    expect(await post(client, receiver.port, { ...as(alice), ca: null })).toMatchObject({
      reason: expect.stringContaining('authority that is not trusted'),
    });
    expect(receiver.requests.length).toBe(1);
    await using issuing = await createTestAuthority('issuing authority', authority);
    receiver.become(await issuing.issue('endpoint'), authority.cert);
    expect(await post(client, receiver.port, as(alice, issuing.cert))).toMatchObject({ kind: 'delivered' });
    expect(await post(client, receiver.port, as(bob, authority.cert))).toMatchObject({ code: 'tls_error' });
  });

  it('stay under the egress policy', async () => {
    await using receiver = await startMutualReceiver(own, authority.cert);
    expect(await post(open([]), receiver.port, as(alice))).toMatchObject({ code: 'blocked_address' });
    expect(receiver.resumed).toEqual([]);
  });

  it('are not used over http', async () => {
    await using receiver = await startReceiver();
    const request = {
      url: receiver.url,
      headers: {},
      body: Buffer.from('{}'),
      identity: identityOf(as(alice)),
    };
    expect(await open().post(request)).toMatchObject({ code: 'tls_error', sent: false });
    expect([...receiver.received, ...receiver.refused]).toEqual([]);
  });

  it('say what is wrong with the certificate of the endpoint', async () => {
    const [expired, other] = await Promise.all([
      authority.issue('endpoint', { days: -1 }),
      authority.issue('endpoint', { hosts: ['elsewhere.test'] }),
    ]);
    await using receiver = await startMutualReceiver(expired, authority.cert);
    const client = open();
    const expected = { code: 'tls_error', sent: false };
    const reason = (text: string) => ({ ...expected, reason: expect.stringContaining(text) });
    expect(await post(client, receiver.port, as(alice))).toMatchObject(reason('has expired'));
    receiver.become(other, authority.cert);
    expect(await post(client, receiver.port, as(alice))).toMatchObject(reason('another host name'));
    expect(receiver.requests).toEqual([]);
    const speaksHttp = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await once(speaksHttp.listen(0, '127.0.0.1'), 'listening');
    const { port } = speaksHttp.address() as AddressInfo;
    expect(await post(client, port, as(alice))).toMatchObject(reason('does not speak TLS'));
    speaksHttp.close();
  });

  it.each(['-tls1_2', '-tls1_3'])(
    'say that the endpoint refuses the certificate of the client, with %s',
    async (version) => {
      const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-server-'));
      const [certFile, keyFile, caFile] = ['c.pem', 'k.pem', 'ca.pem'].map((name) => join(folder, name));
      await writeFile(String(certFile), own.cert);
      await writeFile(String(keyFile), own.key);
      await writeFile(String(caFile), authority.cert);
      const files = ['-cert', certFile, '-key', keyFile, '-CAfile', caFile] as string[];
      const strict = ['-Verify', '2', '-verify_return_error', '-www', version];
      const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...files, ...strict]);
      try {
        let output = '';
        server.stdout.on('data', (chunk) => (output += String(chunk)));
        const port = await vi.waitUntil(() => Number(/ACCEPT 127\.0\.0\.1:(\d+)/.exec(output)?.[1] ?? 0));
        const client = open();
        expect(await post(client, port, as(undefined))).toMatchObject({
          code: 'tls_error',
          sent: false,
          reason: expect.stringContaining(version === '-tls1_3' ? 'requires a certificate' : 'tls.cert'),
        });
        expect(await post(client, port, as(foreign))).toMatchObject({
          code: 'tls_error',
          sent: false,
          reason: expect.stringContaining('does not know its authority'),
        });
      } finally {
        const ended = once(server, 'exit');
        server.kill();
        await ended;
        await rm(folder, { recursive: true });
      }
    },
  );

  it('ends a connection that brings session tickets without end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-tls-'));
    const [certFile, keyFile] = ['c.pem', 'k.pem'].map((name) => join(folder, name)) as [string, string];
    await writeFile(certFile, own.cert);
    await writeFile(keyFile, own.key);
    const files = ['-cert', certFile, '-key', keyFile];
    const many = ['-tls1_3', '-num_tickets', '100000'];
    const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...files, ...many]);
    try {
      let output = '';
      server.stdout.on('data', (chunk) => (output += String(chunk)));
      const port = await vi.waitUntil(() => Number(/ACCEPT 127\.0\.0\.1:(\d+)/.exec(output)?.[1] ?? 0));
      for (const tls of [null, as(undefined)]) {
        const client = openWith(tls === null ? { ca: authority.cert } : {});
        // oxlint-disable-next-line no-await-in-loop -- Each is the only one that it serves.
        expect(await post(client, port, tls)).toMatchObject({
          code: 'tls_error',
          reason: 'The endpoint sent more than 16 TLS session tickets.',
        });
      }
    } finally {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    }
  });
});
