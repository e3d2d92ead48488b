import { type TInteger, type TString, Type } from 'typebox';
import { accountNamePattern } from '../../accounts/account.ts';
import { seenShown } from '../filings/schema.ts';
import {
  listWith,
  nullable,
  oneOf,
  pageOrTable,
  pageQuery,
  record,
  stateSchema,
  time,
  timeOrNull,
} from '../shared/schema.ts';

/** Query of GET /v1/rejections. */
const rejectionsQuerySchema = record({
  ...pageQuery,
  account: Type.Optional(
    Type.String({
      pattern: accountNamePattern,
      description: 'Only those of this account.',
      examples: ['default'],
    }),
  ),
  state: Type.Optional(
    stateSchema({
      description: 'Only those of this state, by its abbreviation in any case.',
      examples: ['TX'],
    }),
  ),
  reason: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Only those with this reason, in any case and any form of Unicode, as `byReason` has it; empty = those without one.',
      examples: ['Affidavit is not signed'],
    }),
  ),
  seen: Type.Optional(
    oneOf(['true', 'false'], { description: 'Only those that somebody has seen, or nobody.' }),
  ),
  order: Type.Optional(
    oneOf(['oldest', 'newest'], {
      default: 'oldest',
      description: '`oldest`: those that are rejected for longest come first.',
    }),
  ),
});

/** One rejection of the board. */
export const rejectionSchema = record(
  {
    account: Type.String({ examples: ['default'] }),
    filingId: Type.String({ examples: ['f_123'] }),
    policyNumber: nullable(Type.String()),
    insuredsName: nullable(Type.String(), { description: 'At most 200 characters of it.' }),
    stateAbbr: nullable(Type.String(), { examples: ['TX'] }),
    premium: nullable(Type.Number()),
    rejectionReason: nullable(Type.String(), { description: 'As the partner service wrote it.' }),
    since: time('Since when it is rejected, as far as polls can tell.'),
    sequence: Type.Integer({ description: 'Number of events of this filing so far.' }),
    seen: seenShown,
  },
  { $id: 'Rejection' },
);

/** An account of the board. */
export const boardAccountSchema = record(
  {
    account: Type.String({ examples: ['default'] }),
    health: oneOf(['unknown', 'baselining', 'ok', 'backing_off', 'auth_failed', 'doubtful', 'stale'], {
      description:
        'The state of its polling; `unknown` until a poll has read everything: its rejections are not known, which is not the same as none.',
    }),
    asOf: timeOrNull('Start of the last poll that read everything; null = none did.'),
    rejections: nullable(Type.Integer(), {
      description: 'Number of its filings that are rejected, whatever the filters; null while it is unknown.',
    }),
  },
  { $id: 'BoardAccount' },
);

const group = <T extends string>(field: T, description: string) =>
  Type.Array(
    record({
      [field]: nullable(Type.String(), { description: 'Null = none is known.' }),
      count: Type.Integer(),
    } as Record<T, ReturnType<typeof nullable<TString>>> & { count: TInteger }),
    { description },
  );

/** Response of GET /v1/rejections. */
const boardSchema = listWith(
  Type.Unsafe({ $ref: 'Rejection#' }),
  'Rejections of all accounts that the token may see. A page may be shorter than `limit` and still have a next one.',
  {
    total: Type.Integer({ description: 'Number of rejections that the filters select, over all pages.' }),
    byReason: group('reason', 'The most frequent reasons, at most 50, at most 200 characters of each.'),
    byState: group('state', 'The most frequent states, at most 50.'),
    groupsComplete: Type.Boolean({
      description:
        'False where there are more rejections than are counted one by one: groups, and `total` with a filter, are then of the first 5 000 only.',
    }),
    accounts: Type.Array(Type.Unsafe({ $ref: 'BoardAccount#' }), {
      description: 'How far the accounts can be believed: those that are not `ok` first, at most 200.',
    }),
    accountsTotal: Type.Integer({ description: 'Number of accounts that the board covers.' }),
  },
);

/** Request and responses of GET /v1/rejections. */
export const listRejections = {
  operationId: 'listRejections',
  summary: 'Rejections of all accounts',
  description:
    'The operator sees all accounts, an account token its own. With `Accept: text/csv` the whole list for a spreadsheet; `limit` and `cursor` ' +
    'have no effect.',
  querystring: rejectionsQuerySchema,
  response: { 200: pageOrTable(boardSchema, 'rejection') },
};
