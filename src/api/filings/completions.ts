import { toCheckpoint } from '../../events/event-log.ts';
import { toDetails } from '../../filings/detection/filing-details.ts';
import type { FilingPage } from '../../filings/lists/filing-list-store.ts';
import type { ApiDeps } from '../deps.ts';
import { scanNewestEvents } from '../events/scan.ts';

const completedStatus = 'COMPLETED';
// The changes after which a filing may be COMPLETED.
const types = ['filing.completed', 'filing.created', 'filing.restored'];

/** The part of an event that is read of its body. */
interface Change {
  readonly data: {
    readonly filingId: string;
    readonly status: string;
    readonly completedAt: string | null;
    readonly filing?: Readonly<Record<string, unknown>>;
  };
}

/**
 * A page of the filings that are COMPLETED, with their details, the latest first, as far back as the log
 * reaches. `after` is a checkpoint of the log. Filings that were COMPLETED at their first read have no event,
 * and are on no page.
 */
export async function listCompletions(
  { log, sections, filings }: Pick<ApiDeps, 'log' | 'sections' | 'filings'>,
  account: string,
  after: string | null,
  limit: number,
): Promise<FilingPage> {
  const from = after === null ? null : toCheckpoint(after);
  const filter = { types, filingId: null };
  const scan = await scanNewestEvents({ log, sections }, account, from, filter, limit);
  const changes = new Map<string, Change['data']>();
  for (const { body } of scan.entries) {
    const { data } = JSON.parse(String(body)) as Change;
    if (data.status === completedStatus && !changes.has(data.filingId)) changes.set(data.filingId, data);
  }
  const listed = await filings.getAll(account, [...changes.keys()]);
  const found = listed.flatMap((one) => {
    const { completedAt, filing = null } = changes.get(one.id) ?? {};
    const { status, removed } = one.state;
    // A later change of its time stands on an earlier page.
    if (status !== completedStatus || removed || one.state.completedAt !== completedAt) return [];
    return [{ ...one, details: toDetails(filing) }];
  });
  const { position, timeline } = scan.position;
  const next = timeline === '' ? String(position) : `${position} ${timeline}`;
  return { filings: found, next: scan.more ? next : null, read: scan.entries.length };
}
