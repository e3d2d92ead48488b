import { Type } from 'typebox';
import { type EventType, eventTypes } from '../../events/event-types.ts';
import { certificateKinds } from '../../subscriptions/options/tls.ts';
import { eventExample } from './event-examples.ts';
import { doubtCounts } from '../accounts/view.ts';
import * as s from '../shared/schema.ts';

/** The headers of every callback: name, meaning and example. */
const callbackHeaders = [
  [
    'webhook-id',
    'Id of the event; the same on every attempt and replay. Store it to recognise repeats.',
    'evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f',
  ],
  [
    'webhook-timestamp',
    'Unix seconds of this attempt. Refuse callbacks that are older than five minutes.',
    '1795255203',
  ],
  [
    'webhook-signature',
    'One or more `v1,<base64 HMAC-SHA256 of id.timestamp.body>`, or `v1a,<base64 ed25519 signature of the same>` for a subscription with public keys, separated by spaces; one must match.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
  [
    'webhook-attempt',
    'Number of this attempt to deliver the event, from 1; a replay counts from 1 again. Not signed.',
    '1',
  ],
] as const;

const responses = {
  '2XX': { description: 'Acknowledged: not sent again, except by a replay.' },
  '410': { description: 'The endpoint wants no more callbacks: the subscription is disabled.' },
  '429': {
    description:
      'With Retry-After the whole subscription rests for that time, at most an hour; 503 does the same.',
  },
  default: { description: 'Not acknowledged: sent again by the retry schedule. Redirects are not followed.' },
};

/** The `webhooks` of the OpenAPI document: one callback per event type. */
export function describeWebhooks() {
  return Object.fromEntries(types.map((type) => [type, { post: describeCallback(type) }]));
}

const types = Object.keys(eventTypes) as EventType[];

/** The id of an event. */
export const eventId = s.string('Id of the event: the `webhook-id` of its callbacks.', {
  examples: ['evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f'],
});

/** The name of an event's schema: `filing.status_changed` is FilingStatusChangedEvent. */
export function schemaName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

function describeCallback(type: EventType) {
  return {
    tags: ['Callbacks'],
    operationId: `callback_${type.replaceAll('.', '_')}`,
    summary: type,
    description: `${eventTypes[type].when} Signed as Standard Webhooks; delivered at least once, and per filing in order of \`sequence\`.`,
    security: [],
    parameters: callbackHeaders.map(([name, description, example]) => ({
      name,
      in: 'header' as const,
      required: true,
      description,
      schema: { type: 'string' as const },
      example,
    })),
    requestBody: {
      required: true,
      description: 'As sent with the format `standard`.',
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(type)}` } } },
    },
    responses,
  };
}

/** The body of an event of this type in the format `standard`; its name is its `$id`. */
export function bodySchema(type: EventType) {
  const { when, data } = eventTypes[type];
  return Type.Object(
    {
      id: eventId,
      type: Type.Unsafe<EventType>({ type: 'string', const: type }),
      timestamp: s.time('When the change was seen.'),
      data: dataSchemas[data],
    },
    {
      $id: schemaName(type),
      description: when,
      additionalProperties: true,
      examples: [eventExample(type, dataSchemas[data])],
    },
  );
}

const account = Type.String({ examples: ['default'] });
const url = s.string('The page of what the event is about. Missing where the daemon has no PUBLIC_URL.', {
  examples: ['https://filings.example.com/#/accounts/default/filing/f_123'],
});
const status = s.string('As the partner service wrote it.', { examples: ['REJECTED'] });

// `id` and `status` are checked when a filing is read. The other fields arrive as the partner service wrote
// them, so a schema that promised their types could be wrong; it may send more.
const partnerFiling = Type.Object(
  {
    id: Type.String({ examples: ['f_123'] }),
    status: Type.String({ examples: ['REJECTED'] }),
    ...s.optional({
      filingType: Type.Unknown({ examples: ['NEW_BUSINESS'] }),
      policyNumber: Type.Unknown({ examples: ['SL-2026-0042'] }),
      insuredsName: Type.Unknown({ examples: ['Bluebonnet Roofing LLC'] }),
      carriersName: Type.Unknown({ examples: ['Lone Star Surety'] }),
      premium: Type.Unknown({ examples: [1200.5] }),
      filingState: Type.Unknown({ examples: [{ name: 'Texas', stateAbbr: 'TX' }] }),
    }),
  },
  { additionalProperties: true },
);

const filingFields = {
  account,
  filingId: Type.String({ examples: ['f_123'] }),
  status,
  previousStatus: s.nullable(status, { description: 'Null in filing.created.' }),
  rejectionReason: s.nullable(Type.String(), { examples: ['Affidavit is not signed'] }),
  completedAt: s.nullable(Type.String()),
  sequence: s.integer('Counts the events of this filing from 1 without gaps.', { examples: [4] }),
  changed: Type.Array(Type.String(), {
    description:
      'What differs from before: `status`, `completedAt`, `rejectionReason`; later versions may name more.',
    examples: [['status', 'rejectionReason']],
  }),
  observed: s.described('When the change happened, as far as polls can tell.', {
    notBefore: s.time('The filing was still as before then.'),
    notAfter: s.time('The change was seen then.'),
  }),
  inferred: s.boolean('True where what was seen proves a round trip that no poll saw.'),
  ...s.optional({
    url,
    answeredBy: s.stringOrNull(
      'In filing.resubmitted, and in other events of a rejection that is answered: the filing that answers it. Null = none does any more.',
      { examples: ['f_124'] },
    ),
    dueAt: s.nullable(s.time('When the filing is due.'), {
      description:
        "By the account's `due`; null where the filing has no date or its state no rule, and of a COMPLETED filing that was not read for the event. Only where the account has `due`.",
    }),
    filing: s.nullable(partnerFiling, {
      description:
        'The filing exactly as the partner service returned it; null in filing.removed; left out with the payload `thin`, and where `omitted` says why.',
    }),
    omitted: Type.String({
      description:
        'Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES or has more than 50 000 values, or the other fields are larger than 128 KiB and were cut; or (`not_kept`, in filing.snapshot) the log no longer holds the last event of the filing, or (in filing.resubmitted and filing.noted) it was not read for the event.',
      examples: ['too_large', 'not_kept'],
    }),
    details: s.nullable(
      s.record({
        policyNumber: s.nullable(Type.String()),
        insuredsName: s.nullable(Type.String()),
        stateAbbr: s.nullable(Type.String()),
        filingType: s.nullable(Type.String()),
        premium: s.nullable(Type.Number()),
        carriersName: s.nullable(Type.String()),
        createdAt: s.nullable(Type.String()),
        policyEffectiveDate: s.nullable(Type.String()),
        endorsementEffectiveDate: s.nullable(Type.String()),
        endorsementNumber: s.nullable(Type.String()),
      }),
      { description: 'Only with `not_kept`: what is kept of the filing; null for COMPLETED filings.' },
    ),
  }),
};

const filingData = s.shared('FilingEventData', filingFields);

const stalledData = s.shared('StalledEventData', {
  ...filingFields,
  stalled: s.described('What lasts for longer than it should.', {
    status: s.string('The status that lasts.'),
    since: s.time('When it was first seen in that status; for a filing of the baseline, when that was read.'),
    after: s.string("The account's limit for that status, an ISO 8601 duration.", { examples: ['P10D'] }),
    seen: s.boolean('Whether somebody has seen the rejection; false in other statuses.'),
  }),
});

const notedData = s.shared('NotedEventData', {
  ...filingFields,
  note: s.described('What a person noted.', {
    by: Type.String({ examples: ['Dana Reyes'] }),
    kind: s.oneOf(['seen', 'note', 'assigned', 'undone'], {
      description:
        '`seen`: took note of the rejection; `undone`: took that back; `note`: wrote a note; `assigned`: assigned the filing.',
    }),
    text: s.stringOrNull('What is done about it.'),
    assignee: s.stringOrNull('To whom the filing is assigned from now on; null = to nobody.'),
  }),
});

const dueData = s.shared('DueEventData', {
  ...filingFields,
  due: s.described('The due date that comes near or is passed.', {
    dueAt: s.time("The effective date and the account's `due` for the state."),
    threshold: s.string('Which of the `dueWarnings` this is: how long before, an ISO 8601 duration.', {
      examples: ['P7D', 'P0D'],
    }),
    seen: s.boolean('Whether somebody has taken note of the present rejection.'),
  }),
});

const accountData = s.shared('AccountEventData', {
  account,
  lastCompletePollAt: s.nullable(s.time('When everything was last read.')),
  lastError: s.stringOrNull('Why the last poll failed.'),
  ...s.optional({
    url,
    doubt: s.described('Only in `account.doubtful`: the findings that are held back.', {
      reason: Type.String({ examples: ['other_list'] }),
      ...doubtCounts,
    }),
    late: s.described('Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS.', {
      reason: Type.String({ examples: ['partner_budget'] }),
      waitedMs: Type.Integer(),
      detail: Type.String(),
    }),
  }),
});

const digestData = s.shared('DigestEventData', {
  account,
  ...s.optional({ url }),
  date: s.string('The local date.', { examples: ['2026-11-21'] }),
  since: s.nullable(s.time('When the digest before was made; null for the first.')),
  asOf: s.time('When everything was last read.'),
  counts: s.described('Numbers of rejections, and of endpoints.', {
    open: s.integer('Filings that are rejected and not answered.'),
    new: s.integer('Those that have become so since the digest before, of the 5 000 most urgent.'),
    overdue: s.integer('Those that are past their due date, of the 5 000 most urgent.'),
    unseen: s.integer('Those that nobody has seen, of the 5 000 most urgent.'),
    answered: s.integer('Rejected filings that a later one answers.'),
    toldToNobody: s.integer('Open ones that no subscription has acknowledged, of the 5 000 most urgent.'),
    failingEndpoints: s.integer('Subscriptions whose endpoint fails, or that were disabled for it.'),
  }),
  rejections: Type.Array(
    s.record({
      filingId: Type.String({ examples: ['f_123'] }),
      policyNumber: s.nullable(Type.String(), { examples: ['SL-2026-0042'] }),
      insuredsName: s.nullable(Type.String(), { examples: ['Bluebonnet Roofing LLC'] }),
      stateAbbr: s.nullable(Type.String(), { examples: ['TX'] }),
      rejectionReason: s.stringOrNull('At most 300 characters of it.', {
        examples: ['Affidavit is not signed'],
      }),
      since: s.time('Since when it is rejected, as far as polls can tell.'),
      dueAt: s.timeOrNull("When it is due by the account's `due`; null for never."),
      seen: s.boolean('Whether somebody has seen it.'),
    }),
    {
      description:
        'The most urgent of them, at most 50: those that are due first, then those that wait for longest.',
    },
  ),
});

const aboutSubscription = {
  account,
  subscription: Type.String({ examples: ['sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'] }),
  endpoint: s.string('Origin of the URL that is called.', { examples: ['https://example.com'] }),
  ...s.optional({ url }),
};

const certificateData = s.shared('CertificateEventData', {
  ...aboutSubscription,
  certificate: s.oneOf(certificateKinds, {
    description: '`cert`: the one that callbacks show; `ca`: the first to end of the authorities.',
  }),
  subject: s.stringOrNull('Null where the settings cannot be opened.', {
    examples: ['CN=filing-webhooks, O=Example Ltd'],
  }),
  notAfter: s.time('When it ends.'),
  expired: s.boolean('Whether it has ended.'),
});

const disabledData = s.shared('DisabledEventData', {
  ...aboutSubscription,
  reason: Type.String({ examples: ['the endpoint answered 410 Gone'] }),
});

const recoveredData = s.shared('RecoveredEventData', {
  ...aboutSubscription,
  disabledAt: s.time('When it was disabled.'),
  waiting: s.integer(
    'How many events waited and are delivered now, the one that the endpoint has just accepted included. Over 2000, all events of the log count.',
  ),
  lost: s.integer(
    'How many events, of all types, had left the log before they could be delivered; 0 = the log still held all that was missed.',
  ),
});

const fellBehindData = s.shared('FellBehindEventData', {
  ...aboutSubscription,
  events: s.integer('How many, of all types: the log no longer holds them to compare.'),
});

const pingData = s.record({
  account,
  subscription: aboutSubscription.subscription,
  ...s.optional({
    description: s.string('Of the subscription; missing without one.', { examples: ['Claims desk'] }),
    url,
  }),
});

/** `data` of a callback, by the kind of data of its event type. */
const dataSchemas = {
  filing: filingData,
  stalled: stalledData,
  due: dueData,
  noted: notedData,
  account: accountData,
  digest: digestData,
  certificate: certificateData,
  disabled: disabledData,
  recovered: recoveredData,
  fellBehind: fellBehindData,
  ping: pingData,
};

/** The body of any callback; `type` distinguishes them. */
export const eventSchema = Type.Unsafe<unknown>({
  $id: 'Event',
  description: 'The body of any callback. Later versions may send further types.',
  oneOf: types.map((type) => bodySchema(type)),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(types.map((type) => [type, `#/components/schemas/${schemaName(type)}`])),
  },
});
