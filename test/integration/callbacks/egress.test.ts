import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import type { CallbackClient } from '../../../src/callbacks/callback-client.ts';
import { classifyOutcome } from '../../../src/callbacks/outcome.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import type { HostLookup } from '../../../src/names/host-lookup.ts';
import { refusedDestination } from '../../../src/egress/url-policy.ts';
import corpus from '../../support/ssrf-corpus.json' with { type: 'json' };
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';

const okResponse = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';
const blocked = {
  kind: 'retry',
  code: 'blocked_address',
  sent: false,
  reason: refusedDestination,
};

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const loopbackHosts = hasIpv6 ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];

interface ClientOptions {
  readonly allowCidrs?: readonly string[];
  readonly lookup?: HostLookup;
  readonly allowHttp?: boolean;
}

function openClient(options: ClientOptions = {}): CallbackClient & AsyncDisposable {
  const { allowCidrs = [], allowHttp = true, lookup = never } = options;
  const policy = createEgressPolicy({ allowCidrs });
  const client = createCallbackClient({ policy, allowHttp, lookup, timeoutMs: 5000, userAgent: 'test' });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

async function outcomeOf(client: CallbackClient, url: string): Promise<unknown> {
  return classifyOutcome(await client.post({ url, headers: {}, body: Buffer.from('{}'), account: 'acme' }));
}

function never(): Promise<never> {
  throw new Error('no lookup expected');
}

function unknownHost(): Promise<never> {
  return Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }));
}

function silence(): Promise<never> {
  return new Promise(() => {});
}

function answers(...lists: string[][]): ReturnType<typeof vi.fn<HostLookup>> {
  const lookup = vi.fn<HostLookup>();
  for (const list of lists) lookup.mockResolvedValueOnce(list.map(toLookupAddress));
  return lookup;
}

function toLookupAddress(address: string): LookupAddress {
  return { address, family: isIP(address) };
}

describe('at dial', () => {
  it('the whole SSRF corpus is refused in one sentence, without asking a resolver', async () => {
    await using client = openClient();
    const urls = corpus.flatMap((group) => group.urls);
    const outcomes = await Promise.all(urls.map((url) => outcomeOf(client, url)));
    expect(outcomes).toEqual(urls.map(() => blocked));
  });

  it.each(loopbackHosts)('the literal address %s is refused before it is dialled', async (host) => {
    await using canary = await startRawReceiver((socket) => socket.end(okResponse), {
      host: host.replaceAll(/[[\]]/g, ''),
    });
    await using client = openClient({ allowCidrs: ['10.0.0.0/8'] });
    expect(await outcomeOf(client, `http://${host}:${canary.port}/`)).toEqual(blocked);
    expect(await outcomeOf(client, `https://${host}:${canary.port}/`)).toEqual(blocked);
    expect(canary.connections()).toBe(0);
  });

  it.each(['http', 'https'])('a name that leads to a refused address is refused over %s', async (scheme) => {
    await using canary = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient({ lookup: answers(['127.0.0.1']) });
    expect(await outcomeOf(client, `${scheme}://hooks.example.com:${canary.port}/`)).toEqual(blocked);
    expect(canary.connections()).toBe(0);
  });

  it.each([
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
    [['2606:4700::1111', '::1', '93.184.216.34']],
    [['::ffff:127.0.0.1']],
    [[]],
  ])('a name with the addresses %j is refused as a whole', async (list) => {
    await using canary = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient({ lookup: answers(list) });
    expect(await outcomeOf(client, `http://hooks.example.com:${canary.port}/`)).toEqual(blocked);
    expect(canary.connections()).toBe(0);
  });

  it('a name that is rebound between two callbacks is refused from then on', async () => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    const lookup = answers(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.2']);
    await using client = openClient({ allowCidrs: ['127.0.0.1/32'], lookup });
    const url = `http://hooks.example.com:${receiver.port}/`;
    expect(await outcomeOf(client, url)).toMatchObject({ kind: 'delivered' });
    expect(await outcomeOf(client, url)).toEqual(blocked);
    expect(await outcomeOf(client, url)).toEqual(blocked);
    expect(lookup).toHaveBeenCalledTimes(3);
    expect(receiver.connections()).toBe(1);
  });

  it('the address that was vetted is the one dialled: a name is asked for once per connection', async () => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    const lookup = answers(['127.0.0.1'], ['10.0.0.1']);
    await using client = openClient({ allowCidrs: ['127.0.0.0/8'], lookup });
    expect(await outcomeOf(client, `http://hooks.example.com:${receiver.port}/`)).toMatchObject({
      kind: 'delivered',
    });
    expect(lookup.mock.calls).toEqual([['hooks.example.com', 'callbacks acme']]);
  });

  it('the next address is tried when the first does not answer', async () => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient({
      allowCidrs: ['127.0.0.0/8', '::1/128'],
      lookup: answers(['::1', '127.0.0.1']),
    });
    expect(await outcomeOf(client, `http://hooks.example.com:${receiver.port}/`)).toMatchObject({
      kind: 'delivered',
    });
  });

  it('http is refused where it is not allowed, although it once was', async () => {
    await using canary = await startRawReceiver((socket) => socket.end(okResponse));
    await using client = openClient({ allowCidrs: ['127.0.0.0/8'], allowHttp: false });
    expect(await outcomeOf(client, canary.url)).toEqual(blocked);
    expect(canary.connections()).toBe(0);
  });
});

describe('within allowed ranges', () => {
  it.each(loopbackHosts)('the literal address %s is reached', async (host) => {
    await using receiver = await startRawReceiver((socket) => socket.end(okResponse), {
      host: host.replaceAll(/[[\]]/g, ''),
    });
    await using client = openClient({ allowCidrs: ['127.0.0.0/8', '::1/128'] });
    expect(await outcomeOf(client, receiver.url)).toMatchObject({ kind: 'delivered' });
    expect(receiver.requests[0]).toContain(`host: ${host}:${receiver.port}\r\n`);
  });
});

describe('names', () => {
  it('that nobody knows are a DNS error', async () => {
    await using client = openClient({ lookup: unknownHost });
    expect(await outcomeOf(client, 'https://hooks.example.com/')).toMatchObject({ code: 'dns_error' });
  });

  it('whose resolver is silent end at the deadline', async () => {
    const policy = createEgressPolicy({ allowCidrs: [] });
    const client = createCallbackClient({
      policy,
      allowHttp: true,
      lookup: silence,
      timeoutMs: 50,
      userAgent: 'test',
    });
    expect(await outcomeOf(client, 'https://hooks.example.com/')).toMatchObject({ code: 'timeout' });
    await client.close();
  });
});
