import { createRequire } from 'node:module';
import type * as AdaptiveCards from 'adaptivecards';
import { expect, it } from 'vitest';
import { formatBody } from '../../../../src/callbacks/body-formats.ts';
import { toMessage } from '../../../../src/callbacks/messages/message.ts';
import { toTeamsMessage } from '../../../../src/callbacks/messages/teams.ts';
import { eventExamples } from '../../../support/event-examples.ts';
import { withLink } from '../../../support/with-link.ts';

// Node cannot import the modules of the package as they are.
const { AdaptiveCard, SerializationContext, Versions } = createRequire(import.meta.url)(
  'adaptivecards/dist/adaptivecards.js',
) as typeof AdaptiveCards;

interface Card {
  readonly body: readonly object[];
  readonly actions?: readonly object[];
}

const cardOf = (data: object, publicUrl: string | null = null) => {
  const event = {
    type: 'filing.rejected',
    timestamp: '2026-11-21T10:00:03.120Z',
    data: { account: 'a', ...data },
  };
  return toTeamsMessage(toMessage(withLink(event, publicUrl))).attachments[0]?.content as Card;
};

// The problems that Microsoft's own reader finds in a card.
function problemsOf(card: object): string[] {
  const context = new SerializationContext(Versions.v1_4);
  const parsed = new AdaptiveCard();
  parsed.parse(card, context);
  const found = Array.from({ length: context.eventCount }, (_, i) => context.getEventAt(i).message);
  return [...found, ...parsed.validateProperties().validationEvents.map(({ message }) => message)];
}

it('is a card that its reader takes without a problem, for every event', async () => {
  expect(problemsOf({ type: 'AdaptiveCard', version: '1.4', body: [{ type: 'Nothing' }] })).not.toEqual([]);
  for (const [name, { id, filingId, body }] of Object.entries(await eventExamples())) {
    const format = {
      account: 'default',
      format: 'teams',
      payload: 'full',
    } as const;
    const { contentType, bytes } = formatBody(format, { id, filingId, body: Buffer.from(body) });
    const message = JSON.parse(bytes.toString()) as ReturnType<typeof toTeamsMessage>;
    expect([contentType, message.type, message.attachments.length]).toEqual([
      'application/json',
      'message',
      1,
    ]);
    expect(message.attachments[0]?.contentType).toBe('application/vnd.microsoft.card.adaptive');
    expect([name, problemsOf(message.attachments[0]?.content ?? {})]).toEqual([name, []]);
  }
});

it('has the headline, the reason in lines, where and when, and a button', () => {
  const data = {
    filingId: 'f',
    status: 'REJECTED',
    previousStatus: 'PENDING',
    changed: ['status'],
    rejectionReason: 'No [seal](http://evil)\nsee page 2',
    filing: { insuredsName: 'Later LLC', policyNumber: 'SL-2' },
  };
  const { body, actions } = cardOf(data, 'https://a.example');
  const texts = JSON.stringify(body).match(/(?<="text":").*?(?=")/g);
  expect(texts).toEqual([
    'Rejected: ',
    'Later LLC · policy SL-2',
    'No [seal](http://evil)',
    'see page 2',
    'account a · f · was PENDING · 2026-11-21 10:00 UTC',
  ]);
  // Text blocks would mark up what others wrote.
  expect(JSON.stringify(body)).not.toContain('"TextBlock"');
  expect(actions).toEqual([
    { type: 'Action.OpenUrl', title: 'Open', url: 'https://a.example/#/accounts/a/filing/f' },
    { type: 'Action.OpenUrl', title: 'Take it', url: 'https://a.example/#/accounts/a/filing/f?take=1' },
  ]);
  expect(cardOf(data)).not.toHaveProperty('actions');
});

it.each(['\u{1f600}', 'a\n', '"'])('fits into 28 KB, whatever is in it: %j', (sign) => {
  const long = sign.repeat(50_000);
  const filing = { insuredsName: long, policyNumber: long, filingState: { stateAbbr: long } };
  const card = cardOf({ account: long, filingId: long, status: long, rejectionReason: long, filing });
  expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThan(28_000);
});
