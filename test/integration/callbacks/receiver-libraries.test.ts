import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, it } from 'vitest';
import { generateSecret } from '../../../src/subscriptions/signing-secret.ts';
import { awkwardEvent, captureCallback, type Captured } from '../docs/captured-callback.ts';
import { eventExamples, type Example } from '../../support/event-examples.ts';

const libraries = { standardwebhooks: StandardWebhook, svix: SvixWebhook };
const [fresh, former, other] = [generateSecret(), generateSecret(), generateSecret()];
const examples: Readonly<Record<string, Example>> = { ...(await eventExamples()), awkward: awkwardEvent };
const minute = 60_000;

const formats = ['standard', 'cloudevents', 'slack', 'teams'] as const;
const payloads = ['full', 'thin'] as const;
const settings = formats.flatMap((format) => payloads.map((payload) => ({ format, payload })));
const callbacks = settings.flatMap((setting) =>
  Object.entries(examples).map(([name, event]) => ({ ...setting, name, event })),
);

/** Which of the secrets each library accepts a callback with. */
function accepted({ headers, body }: Captured): Record<string, string[]> {
  const known = { fresh, former, other };
  return Object.fromEntries(
    Object.entries(libraries).map(([library, Webhook]) => [
      library,
      Object.entries(known).flatMap(([name, secret]) => {
        try {
          // Both parse what they have verified.
          expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body.toString()));
          return name;
        } catch (error) {
          if (error instanceof Error && error.name === 'WebhookVerificationError') return [];
          throw error;
        }
      }),
    ]),
  );
}

const by = (...secrets: string[]) => ({ standardwebhooks: secrets, svix: secrets });

describe.each(callbacks)('$name as $format, $payload', ({ format, payload, event }) => {
  const capture = (secrets: readonly string[], sentAt = Date.now()) =>
    captureCallback(secrets, sentAt, { format, payload }, event);

  it('is verified by the libraries with each secret of a rotation, and with the new one alone after it', async () => {
    expect(accepted(await capture([fresh, former]))).toEqual(by('fresh', 'former'));
    expect(accepted(await capture([fresh]))).toEqual(by('fresh'));
  });

  it('is refused by the libraries when it is late, early or changed', async () => {
    const captured = await capture([fresh]);
    const { headers, body } = captured;
    const changed: Captured[] = [
      await capture([fresh], Date.now() - 6 * minute),
      await capture([fresh], Date.now() + 6 * minute),
      { headers, body: Buffer.from(body.toString().replace(/.(?="?\}+$)/, '#')) },
      { headers: { ...headers, 'webhook-id': `${headers['webhook-id']}0` }, body },
      {
        headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
        body,
      },
    ];
    expect(changed.map(accepted)).toEqual(changed.map(() => by()));
  });
});

describe.each(callbacks.filter(({ format }) => format === 'cloudevents'))(
  '$name as cloudevents, $payload',
  ({ format, payload, event }) => {
    it('is one structured event to the cloudevents library, valid in strict mode', async () => {
      const { headers, body } = await captureCallback([fresh], Date.now(), { format, payload }, event);
      const parsed = HTTP.toEvent<object>({ headers, body: body.toString() });
      if (!(parsed instanceof CloudEvent)) throw new Error('a batch');
      expect(parsed.validate()).toBe(true);
      const recorded = JSON.parse(event.body) as { type: string; timestamp: string; data: object };
      const { filing, ...thin } = recorded.data as { filing?: unknown };
      expect(parsed).toMatchObject({
        specversion: '1.0',
        id: event.id,
        source: '/accounts/default',
        type: recorded.type,
        time: recorded.timestamp,
        datacontenttype: 'application/json',
      });
      expect(parsed.id).toBe(headers['webhook-id']);
      expect(parsed.subject).toBe(event.filingId === '' ? undefined : event.filingId);
      expect(parsed.data).toEqual(payload === 'thin' || filing === undefined ? thin : recorded.data);
    });
  },
);
