import { Type } from 'typebox';
import { nullable, oneOf, record, time } from '../shared/schema.ts';
import { certificateKinds } from '../../subscriptions/options/tls.ts';

const account = Type.String({ examples: ['default'] });
const status = Type.String({ description: 'As the partner service wrote it.', examples: ['REJECTED'] });

// The fields that the partner service is known to send; it may send more.
const partnerFiling = Type.Object(
  {
    id: Type.Optional(Type.String({ examples: ['f_123'] })),
    filingType: Type.Optional(Type.String({ examples: ['NEW_BUSINESS'] })),
    status: Type.Optional(Type.String({ examples: ['REJECTED'] })),
    policyNumber: Type.Optional(Type.String({ examples: ['SL-2026-0042'] })),
    insuredsName: Type.Optional(Type.String({ examples: ['Bluebonnet Roofing LLC'] })),
    carriersName: Type.Optional(Type.String()),
    premium: Type.Optional(Type.Number({ examples: [1200.5] })),
    filingState: Type.Optional(
      Type.Object(
        { name: Type.Optional(Type.String()), stateAbbr: Type.Optional(Type.String()) },
        { additionalProperties: true, examples: [{ name: 'Texas', stateAbbr: 'TX' }] },
      ),
    ),
  },
  { additionalProperties: true },
);

const filingFields = {
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
  changed: Type.Array(Type.String(), {
    description:
      'What differs from before: `status`, `completedAt`, `rejectionReason`; later versions may name more.',
    examples: [['status', 'rejectionReason']],
  }),
  observed: record(
    { notBefore: time('The filing was still as before then.'), notAfter: time('The change was seen then.') },
    { description: 'When the change happened, as far as polls can tell.' },
  ),
  inferred: Type.Boolean({ description: 'True where what was seen proves a round trip that no poll saw.' }),
  filing: Type.Optional(
    nullable(partnerFiling, {
      description:
        'The filing exactly as the partner service returned it; null in filing.removed; left out with the payload `thin`, and where `omitted` says why.',
    }),
  ),
  omitted: Type.Optional(
    oneOf(['too_large', 'not_kept'], {
      'x-open': true,
      description:
        'Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES or has more than 50 000 values, or the other fields are larger than 128 KiB and were cut; or (`not_kept`, only in filing.snapshot) the log no longer holds the last event of the filing.',
    }),
  ),
  details: Type.Optional(
    nullable(
      record({
        policyNumber: nullable(Type.String()),
        insuredsName: nullable(Type.String()),
        stateAbbr: nullable(Type.String()),
        filingType: nullable(Type.String()),
        premium: nullable(Type.Number()),
      }),
      { description: 'Only with `not_kept`: what is kept of the filing; null for COMPLETED filings.' },
    ),
  ),
};

const filingData = record(filingFields);

const stalledData = record({
  ...filingFields,
  stalled: record(
    {
      status: Type.String({ description: 'The status that lasts.' }),
      since: time('When it was first seen in that status; for a filing of the baseline, when that was read.'),
      after: Type.String({
        description: "The account's limit for that status, an ISO 8601 duration.",
        examples: ['P10D'],
      }),
    },
    { description: 'What lasts for longer than it should.' },
  ),
});

const accountData = record({
  account,
  lastCompletePollAt: nullable(time('When everything was last read.')),
  lastError: nullable(Type.String(), { description: 'Why the last poll failed.' }),
  doubt: Type.Optional(
    record(
      {
        reason: Type.String({ examples: ['other_list'] }),
        known: Type.Integer({ description: 'Known filings before that poll.' }),
        shown: Type.Integer({ description: 'The known filings that its lists showed.' }),
        unknown: Type.Integer({ description: 'Filings on its lists that were never seen before.' }),
        gone: Type.Integer({ description: 'Known filings that answered 404 when last asked for.' }),
        moved: Type.Integer({
          description: 'Known filings of which `completedAt` has changed and the status has not.',
        }),
      },
      { description: 'Only in `account.doubtful`: the findings that are held back.' },
    ),
  ),
  late: Type.Optional(
    record(
      {
        reason: Type.String({ examples: ['partner_budget'] }),
        waitedMs: Type.Integer(),
        detail: Type.String(),
      },
      { description: 'Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS.' },
    ),
  ),
});

const aboutSubscription = {
  account,
  subscription: Type.String(),
  url: Type.String({ description: 'Origin of the URL that is called.' }),
};

const certificateData = record({
  ...aboutSubscription,
  certificate: oneOf(certificateKinds, {
    description: '`cert`: the one that callbacks show; `ca`: the first to end of the authorities.',
  }),
  subject: nullable(Type.String(), { description: 'Null where the settings cannot be opened.' }),
  notAfter: time('When it ends.'),
  expired: Type.Boolean({ description: 'Whether it has ended.' }),
});

const disabledData = record({ ...aboutSubscription, reason: Type.String() });

const fellBehindData = record({
  ...aboutSubscription,
  events: Type.Integer({ description: 'How many, of all types: the log no longer holds them to compare.' }),
});

const pingData = record({ account, subscription: Type.String() });

/** `data` of a callback, by the kind of data of its event type. */
export const dataSchemas = {
  filing: filingData,
  stalled: stalledData,
  account: accountData,
  certificate: certificateData,
  disabled: disabledData,
  fellBehind: fellBehindData,
  ping: pingData,
};
