import { observeFilings, type ObservationContext, type RecordedEvent } from '../filings/observe-filings.ts';
import type { FilingState } from '../filings/filing-state.ts';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { PartnerClient } from '../partner/partner-client.ts';
import { scanList, type ScanResult } from './list-scan.ts';
import { isUnsettled } from './plan-poll.ts';
import type { PollingMarks, PollingStore } from './polling-store.ts';

/** What the reads of one poll need. */
export interface PollRunDeps {
  readonly client: PartnerClient;
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  readonly now: () => number;
  /** Called as soon as a read's events are in the log, so that delivery does not wait for the poll's end. */
  readonly onEvents: (account: string, events: readonly RecordedEvent[]) => Promise<void>;
  readonly onQuarantined: (account: string, records: number) => void;
}

/** The reads of one poll; each compares what it read with the snapshot before it resolves. */
export interface PollRun {
  readonly account: string;
  readonly startedAt: number;
  /** Number of events that the poll has put into the log so far. */
  events(): number;
  /** Reads a whole list, or the part of it in one status. */
  readList(status?: string): Promise<ScanResult>;
  /** Reads the first page of a list only, and returns how many filings the service counts on it. */
  readFirstPage(offset: number, status?: string): Promise<{ total: number | null; ids: readonly string[] }>;
  /** The service's count of filings in a status, or of all; null when it gives none. One request. */
  countOf(status?: string): Promise<number | null>;
  /** Reads filings one by one. 404 on two polls, while the account itself answers, removes a filing. */
  readFilings(ids: readonly string[]): Promise<void>;
  /** Takes further filings without an event until the baseline is complete. */
  announceNewFrom(baselined: boolean): void;
}

/** Prepares the reads of one poll of an account. */
export async function createPollRun(
  deps: PollRunDeps,
  account: string,
  marks: PollingMarks,
  startedAt: number,
  signal: AbortSignal,
): Promise<PollRun> {
  let announceNew = marks.baselined;
  let events = 0;
  const missing = await deps.polling.missing(account);
  const unchangedAt = (previous: FilingState | null) => unchangedSince(marks, previous);

  async function observe(
    observations: Parameters<typeof observeFilings>[2],
    window: Parameters<typeof observeFilings>[3],
  ): Promise<void> {
    const context: ObservationContext = { account, generation: marks.generation, announceNew, unchangedAt };
    const recorded = await observeFilings(deps, context, observations, window);
    events += recorded.length;
    if (recorded.length > 0) await deps.onEvents(account, recorded);
    const back = observations
      .filter(({ id, filing }) => filing !== null && missing.has(id))
      .map(({ id }) => id);
    await deps.polling.clearMissing(account, back);
    for (const id of back) missing.delete(id);
  }

  async function readFiling(id: string): Promise<void> {
    const { filing, window } = await deps.client.getFiling(id, signal);
    if (filing !== null) return observe([{ id, filing }], window);
    const since = missing.get(id);
    if (since === undefined) return deps.polling.setMissing(account, id, startedAt);
    if (since >= startedAt) return;
    await deps.client.checkAccount(signal);
    await observe([{ id, filing: null }], window);
    await deps.polling.clearMissing(account, [id]);
  }

  const fetchPage = (offset: number, limit: number, status?: string) =>
    deps.client.listFilings({ offset, limit, ...(status === undefined ? {} : { status }) }, signal);

  return {
    account,
    startedAt,
    events: () => events,
    announceNewFrom: (baselined) => {
      announceNew = baselined;
    },
    async readList(status) {
      const result = await scanList(
        {
          fetchPage: (query) => deps.client.listFilings(query, signal),
          onPage: (page, window) =>
            observe(
              page.filings.map((filing) => ({ id: filing.id, filing })),
              window,
            ),
        },
        status,
      );
      if (result.quarantined > 0) deps.onQuarantined(account, result.quarantined);
      return result;
    },
    async readFirstPage(offset, status) {
      const { page, window } = await fetchPage(offset, 100, status);
      await observe(
        page.filings.map((filing) => ({ id: filing.id, filing })),
        window,
      );
      return { total: page.total, ids: page.filings.map(({ id }) => id) };
    },
    async countOf(status) {
      const { page, window } = await fetchPage(0, 1, status);
      await observe(
        page.filings.map((filing) => ({ id: filing.id, filing })),
        window,
      );
      return page.total;
    },
    async readFilings(ids) {
      await Promise.all(ids.map(readFiling));
    },
  };
}

function unchangedSince(marks: PollingMarks, previous: FilingState | null): number {
  if (previous === null) return marks.bornSeenAt;
  return isUnsettled(previous.status) ? Math.max(marks.unsettledSeenAt, marks.allSeenAt) : marks.allSeenAt;
}
