import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { createCallbackSender } from '../../../src/callbacks/send-callback.ts';
import { buildFilingEvent } from '../../../src/events/event.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';
import { exampleSubscription, type Example } from '../../support/event-examples.ts';

/** A callback as a receiver got it. Header names are in lower case. */
export interface Captured {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Has the real sender call a real receiver, once, and returns what arrived. `sentAt` is the sender's wall
 * clock in milliseconds; the event is one that receivers trip over, unless another is given.
 */
export async function captureCallback(
  secrets: readonly string[],
  sentAt: number,
  settings: Partial<Subscription> = {},
  event: Example = awkwardEvent,
): Promise<Captured> {
  const arrived = Promise.withResolvers<Captured>();
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      arrived.resolve({ headers: textHeaders(request.headers), body });
      response.end();
    });
  });
  const client = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
    allowHttp: true,
    timeoutMs: 5000,
    userAgent: 'filing-webhooks/test',
  });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const subscription = exampleSubscription({
      url: `http://127.0.0.1:${port}/`,
      headers: { 'x-tenant': 'blue' },
      secrets: secrets.map((text) => ({ text, expiresAt: null })),
      ...settings,
    });
    const send = createCallbackSender({ client, wallClock: () => sentAt, now: () => sentAt }, subscription);
    await send({ ...event, body: Buffer.from(event.body) }, 1);
    return await arrived.promise;
  } finally {
    await client.close();
    server.close();
  }
}

function textHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const pairs = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

const side = { completedAt: null, removed: false };

/**
 * What receivers trip over: text outside ASCII, escapes, a lone surrogate and a number that floats cannot
 * hold.
 */
export const awkwardEvent: Example = buildFilingEvent({
  account: 'default',
  generation: 'g',
  filingId: 'f_123',
  type: 'filing.rejected',
  sequence: 4,
  before: { ...side, status: 'PENDING', rejectionReason: null },
  after: { ...side, status: 'REJECTED', rejectionReason: 'Ünterschrift “fehlt” – 署名がありません 🖋 \ud800' },
  changed: ['status', 'rejectionReason'],
  inferred: false,
  notBefore: Date.UTC(2026, 10, 21, 10),
  notAfter: Date.UTC(2026, 10, 21, 10, 0, 3, 120),
  document: { id: 'f_123', insuredsName: 'A & B <Söhne>\r\n', premium: 1200.1, status: 'REJECTED' },
});
