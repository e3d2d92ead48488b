import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createCallbackClient } from '../../../../src/callbacks/callback-client.ts';
import { createCallbackConnector } from '../../../../src/callbacks/connections/connector.ts';
import { createEgressPolicy } from '../../../../src/egress/address-policy.ts';
import type { EgressPolicy } from '../../../../src/egress/address-policy.ts';
import type { HostLookup } from '../../../../src/names/host-lookup.ts';
import { startRawReceiver } from '../../../support/receivers/raw-receiver.ts';

const publicOnly = createEgressPolicy({ allowCidrs: [] });

const loopback: HostLookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

/** Connects with nothing but the connector, as if no URL had been checked before. Rejects with its error. */
function connect(policy: EgressPolicy, hostname: string, port: number, protocol = 'http:'): Promise<Socket> {
  const dial = createCallbackConnector({ policy, lookup: loopback, timeoutMs: 1000 });
  return new Promise((resolve, reject) => {
    const target = { hostname, host: hostname, port: String(port), protocol };
    dial(target, { account: 'acme', dialled: [] }, (error, socket) => {
      if (error === null) resolve(socket);
      else reject(error);
    });
  });
}

describe('the connector by itself', () => {
  it.each(['http:', 'https:'])(
    'refuses literal addresses over %s, which never reach a lookup',
    async (protocol) => {
      await using canary = await startRawReceiver(() => {});
      await expect(connect(publicOnly, '127.0.0.1', canary.port, protocol)).rejects.toThrow(
        'not a permitted',
      );
      await expect(connect(publicOnly, '::1', canary.port, protocol)).rejects.toThrow('not a permitted');
      expect(canary.connections()).toBe(0);
    },
  );

  it.each(['http:', 'https:'])('refuses names with a refused address over %s', async (protocol) => {
    await using canary = await startRawReceiver(() => {});
    await expect(connect(publicOnly, 'hooks.example.com', canary.port, protocol)).rejects.toThrow(
      'not a permitted',
    );
    expect(canary.connections()).toBe(0);
  });

  it('judges the address really dialled once more and hands out no socket to a refused one', async () => {
    await using canary = await startRawReceiver(() => {});
    const isAllowed = vi.fn<EgressPolicy['isAllowed']>().mockReturnValueOnce(true).mockReturnValueOnce(false);
    await expect(connect({ isAllowed }, 'hooks.example.com', canary.port)).rejects.toThrow('not a permitted');
    expect(isAllowed.mock.calls).toEqual([['127.0.0.1'], ['127.0.0.1']]);
    await vi.waitFor(() => expect(canary.open()).toBe(0));
    expect(canary.requests).toEqual([]);
  });
});

describe('a connection that is made after the deadline', () => {
  it('is not used to send the callback that was already reported as a timeout', async () => {
    await using receiver = await startRawReceiver((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const client = createCallbackClient({
      policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
      allowHttp: true,
      timeoutMs: 50,
      userAgent: 'test',
      lookup: () => answered.then(() => [{ address: '127.0.0.1', family: 4 }]),
    });
    const url = `http://hooks.example.com:${receiver.port}/`;
    const result = await client.post({ url, headers: {}, body: Buffer.from('late') });
    expect(result).toMatchObject({ kind: 'failure', code: 'timeout' });
    answer();
    await vi.waitFor(() => expect(receiver.connections()).toBe(1));
    const next = await client.post({ url, headers: {}, body: Buffer.from('next') });
    expect(next).toMatchObject({ statusCode: 200 });
    expect(receiver.requests.map((request) => request.split('\r\n\r\n')[1])).toEqual(['next']);
    await client.close();
  });
});
