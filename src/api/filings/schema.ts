import { Type } from 'typebox';
import { seenByMax, seenNoteMax } from '../../filings/seen-store.ts';
import { unknownWord } from '../../words/near-name.ts';
import { linePattern, statusPattern } from '../shared/patterns.ts';
import {
  accountParams,
  answer,
  conflict,
  listWith,
  nullable,
  oneOf,
  pageOrTable,
  pageQuery,
  record,
  stateSchema,
  time,
} from '../shared/schema.ts';
import { csvColumns, csvExtraColumns, type CsvColumn } from './view.ts';

/** Query of GET …/filings. */
const filingsQuerySchema = record({
  ...pageQuery,
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: linePattern,
      description:
        "Only filings of which policy number, insured's name or id have each of these words as a part, in any case and any form of Unicode. `searched` says whether the " +
        'partner service was asked for COMPLETED filings, whose details are not kept.',
      examples: ['acme SL-2031'],
    }),
  ),
  state: Type.Optional(
    stateSchema({
      description:
        'Only filings of this state, by its abbreviation in any case. Of COMPLETED filings it is known only in a search with `q`.',
      examples: ['TX'],
    }),
  ),
  status: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 640,
      pattern: statusPattern,
      description:
        'Only filings in this status, in any case, or in several with commas between: those of the partner service, and any other that this account has shown.',
      examples: ['PENDING', 'REJECTED,UNPAID'],
    }),
  ),
  order: Type.Optional(
    oneOf(['newest', 'oldest'], {
      description:
        '`newest`: the filings that reached their status last come first; `oldest`: those that are in it for longest. Only with a `status` other ' +
        'than COMPLETED, with `state` or with `q`, where `newest` is the default; other lists have no order.',
    }),
  ),
  columns: Type.Optional(
    Type.Refine(
      Type.String({
        maxLength: 256,
        description: `Columns of the table, with commas between; only with \`Accept: text/csv\`. These are not there by default: ${csvExtraColumns.join(', ')}.`,
        examples: ['account,filingId,insuredsName,rejectionReason,since'],
      }),
      (text) => columnsProblem(text) === null,
      (text) => columnsProblem(text) ?? '',
    ),
  ),
});

/** The columns in a list that the schema has accepted; those of every table without one. */
export function parseColumns(text: string | undefined): readonly CsvColumn[] {
  return text === undefined ? csvColumns : (text.split(',') as CsvColumn[]);
}

function columnsProblem(text: string): string | null {
  const known: readonly string[] = [...csvColumns, ...csvExtraColumns];
  const wrong = text.split(',').find((name) => !known.includes(name));
  return wrong === undefined ? null : unknownWord(wrong, 'column', known);
}

/** Path of a filing. */
const filingParams = Type.Object({
  ...accountParams,
  filingId: Type.String({ description: 'Id of the filing at the partner service.', examples: ['f_123'] }),
});

/** The note that a rejection was seen, in a response. */
export const seenShown = Type.Unsafe<{ by: string; note: string | null; at: string } | null>({
  ...record({
    by: Type.String({ examples: ['Dana Reyes'] }),
    note: nullable(Type.String(), { description: 'What is done about it.' }),
    at: time('When it was noted.'),
  }),
  type: ['object', 'null'],
  description:
    'Who has seen the present rejection; null for nobody, in other statuses, and after a later event of the filing.',
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
  seen: seenShown,
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
const filingListSchema = listWith(
  Type.Unsafe({ $ref: 'Filing#' }),
  'Filings without removed ones. A page may be shorter than `limit` and still have a next one. In lists of COMPLETED and of all ' +
    'filings, one that changes meanwhile may appear twice.',
  {
    searched: Type.Optional(
      record(
        {
          service: oneOf(['asked', 'not_needed', 'unavailable'], {
            description:
              'Whether the partner service was asked for this page. `unavailable`: COMPLETED filings may be missing.',
          }),
          detail: nullable(Type.String(), { description: 'What there is to say about it.' }),
        },
        { description: 'Only with `q`.' },
      ),
    ),
  },
);

/** Request and responses of GET /v1/accounts/{account}/filings. */
export const listFilings = {
  operationId: 'listFilings',
  summary: 'List filings as last seen',
  description:
    'With `Accept: text/csv` the whole list for a spreadsheet (RFC 4180, UTF-8); `limit` and `cursor` have no effect. With `q` it holds at ' +
    'most the first thousand COMPLETED filings that the partner service finds; where that cannot be asked, the answer is 503 or ends early. Texts that a ' +
    'spreadsheet would take for a formula have an apostrophe in front.',
  params: Type.Object(accountParams),
  querystring: filingsQuerySchema,
  response: { 200: pageOrTable(filingListSchema, 'filing') },
};

/** Request and responses of GET /v1/accounts/{account}/filings/{filingId}. */
export const getFiling = {
  operationId: 'getFiling',
  summary: 'A filing as last seen, and its events',
  description: 'The latest events that the log still holds.',
  params: filingParams,
  response: { 200: filingWithEventsSchema },
};

/** Body of PUT …/seen. */
const seenInputSchema = record(
  {
    by: Type.String({
      minLength: 1,
      maxLength: seenByMax,
      pattern: linePattern,
      description: 'Who has seen it.',
      examples: ['Dana Reyes'],
    }),
    note: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: seenNoteMax, pattern: linePattern }), {
        description: 'What is done about it.',
        examples: ['Asked the broker for the signed affidavit.'],
      }),
    ),
  },
  { $id: 'SeenInput' },
);

/** Request and responses of PUT …/filings/{filingId}/seen. */
export const markSeen = {
  operationId: 'markFilingSeen',
  summary: 'Note that somebody has seen a rejection',
  description:
    'The note belongs to the present rejection: the next event of the filing makes it unseen. A note that is there is replaced.',
  params: filingParams,
  body: seenInputSchema,
  response: { 200: answer('Filing', 'The filing.'), 409: conflict },
};

/** Request and responses of DELETE …/filings/{filingId}/seen. */
export const unmarkSeen = {
  operationId: 'unmarkFilingSeen',
  summary: 'Take the note back that somebody has seen a rejection',
  description: 'The filing counts as not seen again. Succeeds without a note, too.',
  params: filingParams,
  response: { 204: { type: 'null', description: 'It counts as unseen.' } },
};
