import { afterAll, expect, test } from 'vitest';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { createCallbackSender } from '../../../src/callbacks/send-callback.ts';
import { isSignedWith } from '../../../src/callbacks/sign.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import {
  generatePrivateKey,
  parsePublicKey,
  publicKeyOf,
} from '../../../src/subscriptions/public-keys/ed25519-key.ts';
import { parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import { exampleSubscription } from '../../support/event-examples.ts';
import { startReceiver, receiverSecret, type Callback } from '../../support/receivers/receiver.ts';

const client = createCallbackClient({
  policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
  allowHttp: true,
  timeoutMs: 5_000,
  userAgent: 'test',
});
afterAll(() => client.close());

const text = (value: string | string[] | undefined): string => String(value);

test.each([[0], [1_500], [250_000]])(
  'a body of %i bytes is signed by v1 and by v1a, each over exactly its bytes',
  async (length) => {
    const received: Callback[] = [];
    await using receiver = await startReceiver((callback) => {
      received.push(callback);
      return 200;
    });
    const privateKey = generatePrivateKey();
    const secrets = [receiverSecret, privateKey].map((each) => ({ text: each, expiresAt: null }));
    const subscription = exampleSubscription({ url: receiver.url, secrets });
    const send = createCallbackSender({ client, wallClock: Date.now, now: Date.now }, subscription);
    const ids = Array.from('abcdef', (letter) => `evt_${letter}`);
    const bodyOf = (id: string) => Buffer.from(length === 0 ? '' : id.padEnd(length, '.'));
    const sent = await Promise.all(ids.map((id) => send({ id, filingId: 'f', body: bodyOf(id) })));
    expect(sent.map(({ outcome }) => outcome.code)).toEqual(ids.map(() => 'delivered'));
    for (const { headers } of received) {
      const id = text(headers['webhook-id']);
      const signed = {
        'webhook-id': id,
        'webhook-timestamp': text(headers['webhook-timestamp']),
        'webhook-signature': text(headers['webhook-signature']),
      };
      expect(signed['webhook-signature']).toMatch(/^v1,\S+ v1a,\S+$/);
      expect(isSignedWith(parseSecret(receiverSecret), signed, bodyOf(id))).toBe(true);
      expect(isSignedWith(parsePublicKey(publicKeyOf(privateKey)), signed, bodyOf(id))).toBe(true);
    }
    expect(received.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(ids);
  },
);
