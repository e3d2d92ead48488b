import { isIP } from 'node:net';
import { expect, it } from 'vitest';
import type { HostLookup } from '../../../src/names/host-lookup.ts';
import { createPartnerHttp } from '../../../src/partner/partner-http.ts';
import { startDeafListener } from '../../support/connections/deaf-listener.ts';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';

const leadingTo =
  (...addresses: string[]): HostLookup =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })));

/** Asks a partner service at this port for the account. */
function ask(lookup: HostLookup, port: number, timeoutMs = 8000) {
  const baseUrl = `http://partner.example.com:${port}/v1`;
  const http = createPartnerHttp({ baseUrl, partnerKey: 'k', timeoutMs, clock: { now: Date.now }, lookup });
  const asked = { endpoint: 'me', path: 'partner/me', shape: 'other', room: {} } as never;
  return http.get(asked, new AbortController().signal);
}

it('a service is reached whose connection takes a second, at the first of two addresses', async () => {
  await using deaf = await startDeafListener('127.0.0.1');
  const answer = ask(leadingTo('127.0.0.1', '::1'), deaf.port);
  deaf.hear();
  expect((await answer).status).toBe(200);
});

it('a service is reached although its first address never answers', async () => {
  await using service = await startRawReceiver((socket) =>
    socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\nconnection: close\r\n\r\n'),
  );
  await using hole = await startDeafListener('127.0.0.2', service.port);
  expect((await ask(leadingTo('127.0.0.2', '127.0.0.1'), hole.port, 2000)).status).toBe(204);
});

it('an error names each address and what came of it', async () => {
  await using hole = await startDeafListener('127.0.0.2');
  await expect(ask(leadingTo('127.0.0.2', '127.0.0.3'), hole.port, 600)).rejects.toMatchObject({
    kind: 'timeout',
    message: 'GET me took too long: 127.0.0.2 did not answer, 127.0.0.3 refused the connection',
  });
  await expect(ask(leadingTo('127.0.0.3'), hole.port)).rejects.toMatchObject({
    kind: 'network',
    message: 'GET me failed: ECONNREFUSED (127.0.0.3 refused the connection)',
  });
});
