import { Type } from 'typebox';
import { nullable, oneOf, record, time } from './shared/schema.ts';
import type { EventType } from '../events/event-types.ts';

const account = Type.String({ examples: ['default'] });
const status = Type.String({ description: 'As the partner service wrote it.', examples: ['REJECTED'] });

/** `data` of a filing's event (contract, Callbacks). */
const filingData = record({
  account,
  filingId: Type.String({ examples: ['f_123'] }),
  status,
  previousStatus: nullable(status, { description: 'Null in filing.created.' }),
  rejectionReason: nullable(Type.String(), { examples: ['Affidavit is not signed'] }),
  completedAt: nullable(Type.String()),
  sequence: Type.Integer({
    description: 'Counts the events of this filing from 1 without gaps.',
    examples: [4],
  }),
  changed: Type.Array(oneOf(['status', 'completedAt', 'rejectionReason']), {
    description: 'What differs from before.',
  }),
  observed: record(
    { notBefore: time('The filing was still as before then.'), notAfter: time('The change was seen then.') },
    { description: 'When the change happened, as far as polls can tell.' },
  ),
  inferred: Type.Boolean({ description: 'True where what was seen proves a round trip that nobody saw.' }),
  filing: Type.Optional(
    nullable(Type.Object({}, { additionalProperties: true }), {
      description:
        'The filing exactly as the partner service returned it; null in filing.removed; left out with the payload `thin`, and where `omitted` says why.',
    }),
  ),
  omitted: Type.Optional(
    oneOf(['too_large'], {
      description: 'Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES.',
    }),
  ),
});

const accountData = record({
  account,
  lastCompletePollAt: nullable(time('When all was last read.')),
  lastError: nullable(Type.String(), { description: 'What the last poll died of.' }),
});

const aboutSubscription = {
  account,
  subscription: Type.String(),
  url: Type.String({ description: 'Origin of the URL that is called.' }),
};

const disabledData = record({ ...aboutSubscription, reason: Type.String() });

const fellBehindData = record({
  ...aboutSubscription,
  events: Type.Integer({ description: 'How many, of all types: the log does not know any more which.' }),
});

const pingData = record({ account, subscription: Type.String() });

/** The body of a callback with one event type. */
export function callbackSchema(type: EventType) {
  return record({
    type: Type.Unsafe<EventType>({ type: 'string', const: type }),
    timestamp: time('When the change was seen.'),
    data: dataOf(type),
  });
}

/** A body as it is sent, to show. */
export const callbackExample = {
  type: 'filing.rejected',
  timestamp: '2026-11-21T10:00:03.120Z',
  data: {
    account: 'default',
    filingId: 'f_123',
    status: 'REJECTED',
    previousStatus: 'PENDING',
    rejectionReason: 'Affidavit is not signed',
    completedAt: null,
    sequence: 4,
    changed: ['status', 'rejectionReason'],
    observed: { notBefore: '2026-11-21T09:59:48.017Z', notAfter: '2026-11-21T10:00:03.120Z' },
    inferred: false,
    filing: { id: 'f_123', status: 'REJECTED', policyNumber: 'SL-2026-0042', premium: 1200.5 },
  },
};

function dataOf(type: EventType) {
  if (type === 'ping') return pingData;
  if (type === 'subscription.disabled') return disabledData;
  if (type === 'subscription.fell_behind') return fellBehindData;
  return type.startsWith('account.') ? accountData : filingData;
}
