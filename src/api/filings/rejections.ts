import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { accountNamePattern } from '../../accounts/account.ts';
import { answeredGroup } from '../../filings/detection/age-rank.ts';
import { dueDate, type DueRules } from '../../filings/detection/due-dates.ts';
import { seenStatus } from '../../filings/detection/triage.ts';
import { agedSources, dueSources } from '../../filings/lists/walk-sources.ts';
import type { SourcedFiling } from '../../filings/lists/ordered-walk.ts';
import { cutText } from '../../json/cut-text.ts';
import { createCostlyResults } from '../../memory/costly-results.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { folded } from '../../words/folded.ts';
import { tokenOf } from '../access/auth.ts';
import { ownerOf } from '../access/own-subscriptions.ts';
import { type Dear, exportMs } from '../access/dear-requests.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { boardAccountSchema, countRejections, type Coverage, coveredAccounts } from './covered-accounts.ts';
import { type AddTold, addToldOfAll, createAddTold } from './told.ts';
import { filingSchema, filingView } from './view.ts';
import { type CsvColumn, csvColumns, csvExtraColumns, sendTable, wantsCsv } from './table.ts';
import {
  dueChoiceProblem,
  dueRulesOf,
  isDueWithin,
  isNotedAs,
  notedFilter,
  type NotedFilter,
  notedQuery,
  withDueDates,
} from './choices.ts';
import * as s from '../shared/schema.ts';
import { type CursorKind, sendPage } from '../shared/paging.ts';
import { notFound } from '../shared/problem.ts';

// A table of rejections has all columns but those that are the same, or mean nothing, for each of them.
const unshown = new Set<CsvColumn>(['status', 'completedAt', 'sequence']);
const tableColumns = [...new Set<CsvColumn>(['account', ...csvColumns, ...csvExtraColumns])].filter(
  (column) => !unshown.has(column),
);

// Maximum number of rejections that are counted one by one.
const countedMax = 5_000;
// Maximum number of rejections that a page reads, and milliseconds after which it ends.
const readMax = 20_000;
const boardMs = 2_000;
// Number of rejections that a table reads at once.
const tableFilings = 500;

/**
 * The board of rejections over all accounts that a token may see. Groups that took long to count are kept for
 * ten times as long.
 */
export function addRejectionRoutes(app: Api, deps: ApiDeps): void {
  const counted = createCostlyResults<Awaited<ReturnType<typeof countGroups>>>(() => performance.now());
  app.get('/rejections', listRejections, async (request, reply) => {
    const { query } = request;
    const { order = 'oldest', open = 'true' } = query;
    const only = accountOf(request, query.account);
    const filter = filterOf(query);
    const choice: BoardChoice = { order, group: open === 'true' ? seenStatus : answeredGroup };
    const kind: CursorKind = `rejections:${JSON.stringify([only, filter, order, open])}`;
    const addTold = createAddTold(deps, request);
    let whole: Coverage | undefined;
    const table = { name: 'rejections', columns: tableColumns };
    const inTable = sendTable(request, reply, table, async (after) => {
      whole ??= await coveredAccounts(deps, only);
      const page = { ...choice, after, limit: tableFilings };
      const { filings, next } = await walk(deps, whole, filter, addTold, page);
      return { filings: await addToldOfAll(addTold, await withDueDates(deps, filings)), next };
    });
    if (inTable !== null) return inTable;
    return sendPage(request, reply, kind, async (after, limit) => {
      const coverage = await coveredAccounts(deps, only);
      const page = await walk(deps, coverage, filter, addTold, { ...choice, after, limit });
      const counts = () => countGroups(deps, coverage, filter, addTold, choice);
      const filings = await addToldOfAll(addTold, await withDueDates(deps, page.filings));
      const groups = await counted(`${ownerOf(request) ?? ''} ${kind}`, counts);
      return {
        items: filings.map((one) => s.show(rejectionSchema, { ...filingView(one), account: one.account })),
        next: page.next,
        ...groups,
        accounts: coverage.shown,
        accountsTotal: coverage.total,
      };
    });
  });
}

// The groups of a choice of rejections, over all its pages.
async function countGroups(
  deps: ApiDeps,
  coverage: Coverage,
  filter: BoardFilter,
  addTold: AddTold,
  choice: BoardChoice,
) {
  const found = await walk(deps, coverage, filter, addTold, { ...choice, after: null, limit: countedMax });
  const groups = groupRejections(found.filings);
  const groupsComplete = found.next === null;
  if (groupsComplete || Object.values(filter).some((value) => value !== null))
    return { ...groups, groupsComplete };
  const listed = await countRejections(deps, coverage.rejecting, choice.group);
  return { ...groups, total: Math.max(groups.total, listed), groupsComplete };
}

async function walk(
  deps: ApiDeps,
  { rejecting }: Coverage,
  filter: BoardFilter,
  addTold: AddTold,
  { group, order, ...page }: BoardChoice & { readonly after: string | null; readonly limit: number },
) {
  const rules: ReadonlyMap<string, DueRules | null> =
    order === 'due' || filter.due !== null ? await dueRulesOf(deps, rejecting) : new Map();
  const isDue = ({ account, state }: SourcedFiling) =>
    filter.due === null ||
    isDueWithin(filter.due, dueDate(rules.get(account) ?? null, state.effective), deps.now());
  return deps.filings.walk(
    rejecting.flatMap((account) =>
      order === 'due'
        ? dueSources(account, rules.get(account) ?? null, [group])
        : agedSources(account, [group]),
    ),
    {
      ...page,
      order: order === 'due' ? 'oldest' : order,
      wants: (filing) => isSelected(filing, filter) && isDue(filing),
      ...(filter.told === null
        ? {}
        : { sift: (account, found) => siftTold(addTold, account, found, filter.told) }),
      readMax,
      untilMs: performance.now() + boardMs,
      passOver: (error) => toUnreadable(error) !== null,
    },
  );
}

async function siftTold(
  addTold: AddTold,
  account: string,
  filings: readonly SourcedFiling[],
  asked: BoardFilter['told'],
): Promise<SourcedFiling[]> {
  const all = await addTold(account, filings);
  return all.filter(({ told }) => told !== null && told.length > 0 === (asked === 'somebody'));
}

// An account token sees its own account, as if there were no others.
function accountOf(request: FastifyRequest, asked: string | undefined): string | null {
  const account = tokenOf(request)?.account;
  if (account === undefined) return asked ?? null;
  if (asked !== undefined && asked !== account) throw notFound('account_not_found');
  return account;
}

function filterOf({ state, reason, told, due, ...noted }: Static<typeof rejectionsQuerySchema>): BoardFilter {
  return {
    state: state === undefined ? null : folded(state),
    reason: reason === undefined ? null : folded(reason.trim()),
    ...notedFilter(noted),
    told: told ?? null,
    due: due ?? null,
  };
}

// The board reads the rejections of all accounts to count them; a table is read at the pace of its client.
function kindOfBoard({ headers }: FastifyRequest): Dear {
  return wantsCsv(headers.accept) ? 'exports' : 'scans';
}

/** The rejections that the board goes through. */
interface BoardChoice {
  readonly order: BoardOrder;
  /** As the index has them: the open ones, or those that are answered. */
  readonly group: string;
}

/** The filters of the board; null = any. */
interface BoardFilter extends NotedFilter {
  /** Folded. */
  readonly state: string | null;
  /** Folded; empty = none. */
  readonly reason: string | null;
  readonly told: 'nobody' | 'somebody' | null;
  /** As `isDueWithin` takes it. */
  readonly due: string | null;
}

type BoardOrder = NonNullable<Static<typeof rejectionsQuerySchema>['order']>;

// Maximum number of groups that are shown.
const groupsMax = 50;
// Maximum characters of a reason that tell groups apart.
const reasonLengthMax = 200;

/** Whether the filters on what is stored select this rejection; pure. */
function isSelected(filing: SourcedFiling, filter: BoardFilter): boolean {
  const { state, details } = filing;
  if (!isNotedAs(filing, filter)) return false;
  if (filter.state !== null && folded(details?.stateAbbr ?? '') !== filter.state) return false;
  return filter.reason === null || folded(reasonOf(state.rejectionReason) ?? '') === filter.reason;
}

/**
 * How often each reason and each state occurs among rejections, the most frequent first, each in the first of
 * its spellings; pure.
 */
function groupRejections(rejections: readonly SourcedFiling[]) {
  const reasons = rejections.map(({ state }) => reasonOf(state.rejectionReason));
  const states = rejections.map(({ details }) => details?.stateAbbr ?? null);
  return {
    total: rejections.length,
    byReason: mostFrequent(reasons).map(([reason, count]) => ({ reason, count })),
    byState: mostFrequent(states).map(([state, count]) => ({ state, count })),
  };
}

// Composed, so that what is cut off does not depend on the form.
function reasonOf(reason: string | null): string | null {
  const text = cutText(reason?.normalize().trim() ?? '', reasonLengthMax);
  return text === '' ? null : text;
}

function mostFrequent(texts: readonly (string | null)[]): (readonly [string | null, number])[] {
  const groups = new Map<string | null, [text: string | null, count: number]>();
  for (const text of texts) {
    const key = text === null ? null : folded(text);
    const [first, count] = groups.get(key) ?? [text, 0];
    groups.set(key, [first, count + 1]);
  }
  return [...groups.values()]
    .toSorted(([a, many], [b, other]) => other - many || ((a ?? '') < (b ?? '') ? -1 : 1))
    .slice(0, groupsMax);
}

/** Query of GET /v1/rejections. */
const rejectionsQuerySchema = s.record(
  s.optional({
    ...s.pageQuery,
    account: Type.String({
      pattern: accountNamePattern,
      description: 'Only those of this account.',
      examples: ['default'],
    }),
    state: s.stateSchema({
      description: 'Only those of this state, by its abbreviation in any case.',
      examples: ['TX'],
    }),
    reason: Type.String({
      maxLength: 200,
      description:
        'Only those with this reason, in any case and any form of Unicode, as `byReason` has it; empty = those without one.',
      examples: ['Affidavit is not signed'],
    }),
    open: s.oneOf(['true', 'false'], {
      default: 'true',
      description: 'Only those that no other filing answers, or only those that one answers.',
    }),
    ...notedQuery,
    told: s.oneOf(['nobody', 'somebody'], {
      description:
        '`nobody`: only those of which no subscription was told. One of which that is no longer known is neither.',
    }),
    due: s.checked(
      Type.String({
        maxLength: 64,
        description:
          "By the accounts' `due`: `overdue`; `none` for those without a due date; or an ISO 8601 duration for those that are due within it, the overdue ones among them.",
        examples: ['overdue', 'P7D'],
      }),
      dueChoiceProblem,
    ),
    order: s.oneOf(['oldest', 'newest', 'due'], {
      default: 'oldest',
      description:
        '`oldest`: those that are rejected for longest come first, where those with `sinceIsFirstRead` count since their `createdAt`; `due`: those that are due first, and last those without a due date.',
    }),
  }),
);

/** One rejection of the board. */
export const rejectionSchema = s.shared('Rejection', {
  account: Type.String({ examples: ['default'] }),
  ...Type.Omit(filingSchema, ['status', 'completedAt', 'removed', 'filingType']).properties,
});

const noneKnown = s.stringOrNull('Null = none is known.');

/** Response of GET /v1/rejections. */
export const boardSchema = s.listWith(
  rejectionSchema,
  'Rejections of all accounts that the token may see. A page may be shorter than `limit` and still have a next one.',
  {
    total: s.integer('Number of rejections that the filters select, over all pages.'),
    byReason: Type.Array(s.record({ reason: noneKnown, count: Type.Integer() }), {
      description: 'The most frequent reasons, at most 50, at most 200 characters of each.',
    }),
    byState: Type.Array(s.record({ state: noneKnown, count: Type.Integer() }), {
      description: 'The most frequent states, at most 50.',
    }),
    groupsComplete: s.boolean(
      'False where there are more rejections than are counted one by one: groups, and `total` with a filter, are then of the first 5 000 only.',
    ),
    accounts: s.arrayOf(boardAccountSchema, {
      description: 'How far the accounts can be believed: those that are not `ok` first, at most 200.',
    }),
    accountsTotal: s.integer('Number of accounts that the board covers.'),
  },
);

/** Request and responses of GET /v1/rejections. */
const listRejections = s.operation({
  config: { anyToken: true, dear: kindOfBoard },
  handlerTimeout: exportMs,
  operationId: 'listRejections',
  summary: 'Rejections of all accounts',
  description:
    'The operator sees all accounts, an account token its own. With `Accept: text/csv` the whole list for a spreadsheet; `limit` and `cursor` ' +
    'have no effect.',
  querystring: rejectionsQuerySchema,
  response: { 200: s.pageOrTable(boardSchema, 'rejection') },
});
