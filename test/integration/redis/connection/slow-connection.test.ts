import dns from 'node:dns';
import { once } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import { openClient } from '../../../../src/redis/connection/open-client.ts';
import { startDeafListener } from '../../../support/connections/deaf-listener.ts';

afterEach(() => vi.restoreAllMocks());

it('a Redis is reached whose connection takes a second, at the first of two addresses of its name', async () => {
  await using deaf = await startDeafListener('127.0.0.1');
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  vi.spyOn(dns, 'lookup').mockImplementation(((_: string, __: object, found: (...all: unknown[]) => void) =>
    found(null, addresses)) as never);
  const errors: Error[] = [];
  const node = { host: 'localhost', port: deaf.port };
  const none = { username: null, password: null };
  const place = { kind: 'single', nodes: [node], path: '', db: 0, masterName: '' } as const;
  const client = openClient({ ...place, ...none, tls: null, sentinel: none }, 'listening', 'test');
  client.on('error', (error: Error) => errors.push(error));
  deaf.hear();
  await once(client, 'connect');
  expect(errors).toEqual([]);
  client.disconnect();
});
