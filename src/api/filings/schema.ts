import type { Readable } from 'node:stream';
import { Type } from 'typebox';
import { statusPattern } from '../shared/patterns.ts';
import { accountParams, listOf, nullable, pageQuery, problems, record, time } from '../shared/schema.ts';

/** Query of GET …/filings. */
const filingsQuerySchema = record({
  ...pageQuery,
  status: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: statusPattern,
      description: 'Only filings in this status; any word, as the partner service writes it.',
      examples: ['PENDING'],
    }),
  ),
  order: Type.Optional(
    Type.Union([Type.Literal('id'), Type.Literal('newest')], {
      default: 'id',
      description:
        '`newest`: the filings that reached their status last come first; only with a `status` other than COMPLETED.',
    }),
  ),
});

/** Path of an account's filings. */
const filingsParams = Type.Object(accountParams);

/** Path of a filing. */
const filingParams = Type.Object({
  ...accountParams,
  filingId: Type.String({ description: 'Id of the filing at the partner service.', examples: ['f_123'] }),
});

const detail = (description: string) =>
  nullable(Type.String(), {
    description: `${description} Null when it is not known, and once the filing is COMPLETED.`,
  });

const shown = {
  filingId: Type.String({ examples: ['f_123'] }),
  status: Type.String({ examples: ['REJECTED'] }),
  since: time('Since when the status is this, as far as polls can tell.'),
  completedAt: nullable(Type.String(), { description: 'As the partner service wrote it.' }),
  rejectionReason: nullable(Type.String(), { description: 'As the partner service wrote it.' }),
  sequence: Type.Integer({
    description: 'Number of events of this filing so far; 0 = unchanged since the baseline.',
  }),
  removed: Type.Boolean({
    description: 'Whether the partner service no longer knows it; such filings are in no list.',
  }),
  policyNumber: detail('Policy number.'),
  insuredsName: detail("Insured's name, at most 200 characters of it."),
  stateAbbr: detail('State abbreviation.'),
  filingType: detail('Filing type.'),
  premium: nullable(Type.Number(), {
    description: 'Premium. Null when it is not known, and once the filing is COMPLETED.',
  }),
};

/** A filing as the daemon last saw it. */
export const filingSchema = record(shown, { $id: 'Filing' });

/**
 * Response of GET …/filings/{filingId}; the handler writes its bytes, so that events stay as they were
 * stored.
 */
const filingWithEventsSchema = Type.Unsafe<Buffer>(
  record(
    {
      ...shown,
      events: Type.Array(Type.Unsafe({ $ref: 'LoggedEvent#' }), {
        description:
          'Its latest events still in the log, at most 100, oldest first; GET …/events?filingId= gives all.',
      }),
    },
    { description: 'The filing and its events.' },
  ),
);

/** Response of GET …/filings. */
const filingListSchema = listOf(
  Type.Unsafe({ $ref: 'Filing#' }),
  'Filings without removed ones. A page may be shorter than `limit` and still have a next one. In lists of COMPLETED and of all ' +
    'filings, one that changes meanwhile may appear twice.',
);

/** Request and responses of GET /v1/accounts/{account}/filings. */
export const listFilings = {
  tags: ['Filings'],
  operationId: 'listFilings',
  summary: 'List filings as last seen',
  description:
    'With `Accept: text/csv` the whole list for a spreadsheet (RFC 4180, UTF-8); `limit`, `cursor` and `order` have no effect. Texts that a ' +
    'spreadsheet would take for a formula have an apostrophe in front.',
  params: filingsParams,
  querystring: filingsQuerySchema,
  response: {
    200: {
      description: 'A page as JSON, or the whole list as CSV.',
      content: {
        'application/json': { schema: filingListSchema },
        'text/csv': {
          schema: Type.Unsafe<Readable>(
            Type.String({ description: 'A header line and a line for each filing.' }),
          ),
        },
      },
    },
    ...problems(422),
  },
};

/** Request and responses of GET /v1/accounts/{account}/filings/{filingId}. */
export const getFiling = {
  tags: ['Filings'],
  operationId: 'getFiling',
  summary: 'A filing as last seen, and its events',
  params: filingParams,
  response: { 200: filingWithEventsSchema, ...problems() },
};
