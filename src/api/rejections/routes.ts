import type { FastifyRequest } from 'fastify';
import type { AgeOrder } from '../../filings/detection/age-rank.ts';
import { seenStatus } from '../../filings/detection/seen-mark.ts';
import type { SourcedFiling } from '../../filings/lists/ordered-walk.ts';
import { cutText } from '../../json/cut-text.ts';
import { createCostlyResults } from '../../memory/costly-results.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { folded } from '../../words/folded.ts';
import { callerOf } from '../access/auth.ts';
import { type Dear, exportMs } from '../access/dear-requests.ts';
import type { ApiDeps } from '../deps.ts';
import { filingView, sendTable } from '../filings/view.ts';
import type { Api } from '../server/api-instance.ts';
import { wantsCsv } from '../shared/csv.ts';
import { type CursorKind, decodeCursor, encodeCursor } from '../shared/cursor.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { accountNotFound } from '../shared/not-found.ts';
import { pageLimit } from '../shared/schema.ts';
import { countRejections, type Coverage, coveredAccounts } from './covered-accounts.ts';
import { listRejections } from './schema.ts';

const tableColumns = [
  'account',
  'filingId',
  'since',
  'insuredsName',
  'policyNumber',
  'stateAbbr',
  'filingType',
  'premium',
  'rejectionReason',
  'seenBy',
  'seenNote',
  'seenAt',
] as const;

// Maximum number of rejections that are counted one by one.
const countedMax = 5_000;
// Maximum number of rejections that a page reads, and milliseconds after which it ends.
const readMax = 20_000;
const boardMs = 2_000;
// Number of rejections that a table reads at once.
const tableFilings = 500;

/** The groups of a choice of rejections, over all its pages. */
interface Counted {
  readonly groups: Groups;
  readonly isComplete: boolean;
}

interface BoardQuery {
  readonly account?: string | undefined;
  readonly state?: string | undefined;
  readonly reason?: string | undefined;
  readonly seen?: 'true' | 'false' | undefined;
  readonly order?: AgeOrder | undefined;
}

/**
 * The board of rejections over all accounts that a token may see. Groups that took long to count are kept for
 * ten times as long.
 */
export function addRejectionRoutes(app: Api, deps: ApiDeps): void {
  const counted = createCostlyResults<Counted>(() => performance.now());
  app.get(
    '/rejections',
    { config: { anyToken: true, dear: kindOfBoard }, schema: listRejections, handlerTimeout: exportMs },
    async (request, reply) => {
      const { method, query, headers } = request;
      const { order = 'oldest', limit = pageLimit } = query;
      const only = accountOf(request, query.account);
      const filter = filterOf(query);
      const kind: CursorKind = `rejections:${JSON.stringify([only, filter, order])}`;
      void reply.header('vary', 'accept');
      if (wantsCsv(headers.accept)) {
        let coverage: Coverage | undefined;
        return sendTable(method, reply, { name: 'rejections', columns: tableColumns }, async (after) => {
          coverage ??= await coveredAccounts(deps, only);
          return walk(deps, coverage, filter, { order, after, limit: tableFilings });
        });
      }
      const after = decodeCursor(kind, query.cursor);
      if (method === 'HEAD') return headersOnly(reply);
      const coverage = await coveredAccounts(deps, only);
      const page = await walk(deps, coverage, filter, { order, after, limit });
      const { groups, isComplete } = await counted(kind, async () => {
        const found = await walk(deps, coverage, filter, { order, after: null, limit: countedMax });
        const isFiltered = Object.values(filter).some((value) => value !== null);
        const ofFound = groupRejections(found.filings);
        if (isFiltered || found.next === null) return { groups: ofFound, isComplete: found.next === null };
        const listed = await countRejections(deps, coverage.rejecting);
        const total = Math.max(ofFound.total, listed);
        return { groups: { ...ofFound, total }, isComplete: false };
      });
      const { total, byReason, byState } = groups;
      return {
        items: page.filings.map(rejectionView),
        nextCursor: page.next === null ? null : encodeCursor(kind, page.next),
        total,
        byReason: [...byReason],
        byState: [...byState],
        groupsComplete: isComplete,
        accounts: [...coverage.shown],
        accountsTotal: coverage.total,
      };
    },
  );
}

function walk(
  { filings }: ApiDeps,
  { rejecting }: Coverage,
  filter: BoardFilter,
  page: { readonly order: AgeOrder; readonly after: string | null; readonly limit: number },
) {
  return filings.walk(
    rejecting.map((account) => ({ account, status: seenStatus })),
    {
      ...page,
      wants: (filing) => isSelected(filing, filter),
      readMax,
      untilMs: performance.now() + boardMs,
      passOver: (error) => toUnreadable(error) !== null,
    },
  );
}

// An account token sees its own account, as if there were no others.
function accountOf(request: FastifyRequest, asked: string | undefined): string | null {
  const caller = callerOf(request);
  if (caller?.kind !== 'account') return asked ?? null;
  const { account } = caller.token;
  if (asked !== undefined && asked !== account) throw accountNotFound();
  return account;
}

function filterOf({ state, reason, seen }: BoardQuery): BoardFilter {
  return {
    state: state === undefined ? null : folded(state),
    reason: reason === undefined ? null : folded(reason.trim()),
    seen: seen === undefined ? null : seen === 'true',
  };
}

function rejectionView(filing: SourcedFiling) {
  const { filingId, policyNumber, insuredsName, stateAbbr, premium, rejectionReason, since, sequence, seen } =
    filingView(filing);
  return {
    account: filing.account,
    filingId,
    policyNumber,
    insuredsName,
    stateAbbr,
    premium,
    rejectionReason,
    since,
    sequence,
    seen,
  };
}

// The board reads the rejections of all accounts to count them; a table is read at the pace of its client.
function kindOfBoard({ method, headers }: FastifyRequest): Dear | null {
  if (method === 'HEAD') return null;
  return wantsCsv(headers.accept) ? 'exports' : 'scans';
}

/** The filters of the board; null = any. */
export interface BoardFilter {
  /** Folded. */
  readonly state: string | null;
  /** Folded; empty = none. */
  readonly reason: string | null;
  readonly seen: boolean | null;
}

/** How often each reason and each state occurs among rejections, the most frequent first. */
export interface Groups {
  readonly total: number;
  readonly byReason: readonly { readonly reason: string | null; readonly count: number }[];
  readonly byState: readonly { readonly state: string | null; readonly count: number }[];
}

// Maximum number of groups that are shown.
const groupsMax = 50;
// Maximum characters of a reason that tell groups apart.
const reasonLengthMax = 200;

/** Whether the filters select this rejection; pure. */
function isSelected({ state, details, seen }: SourcedFiling, filter: BoardFilter): boolean {
  if (filter.seen !== null && filter.seen !== (seen !== null)) return false;
  if (filter.state !== null && folded(details?.stateAbbr ?? '') !== filter.state) return false;
  return filter.reason === null || folded(reasonOf(state.rejectionReason) ?? '') === filter.reason;
}

/** The groups of these rejections, each with the first of its spellings; pure. */
function groupRejections(rejections: readonly SourcedFiling[]): Groups {
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
