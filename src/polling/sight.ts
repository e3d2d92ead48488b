import { hash } from 'node:crypto';
import { pageSize, type PartnerPage } from '../partner/filing-schema.ts';
import type { ListQuery } from '../partner/partner-client.ts';

/** The list that a look requests, or its beginning. */
export type Outlook =
  | 'all' // the whole list, of an account that has it on one page
  | 'rejected'; // the first filing of the list of REJECTED

/** The answer to a request as far as looks compare it. */
export interface Sight {
  readonly of: Outlook;
  /** The service's count of that list, or null if it gave none. */
  readonly total: number | null;
  /** Order-independent digest of the filings, or null if only the count is known. */
  readonly rows: string | null;
}

/** The kind of difference between two sights. */
export type Change = 'total' | 'rows';

/** How far an alarm is believed, after those before it. */
export interface Trust {
  /** False once another first filing meant nothing: the list is not in the order of rejections. */
  readonly isOrdered: boolean;
  /** Number of alarms in a row after which a poll found nothing. */
  readonly vain: number;
}

/** The trust before the first alarm. */
export const untried: Trust = { isOrdered: true, vain: 0 };

/** The status that a look at a long list asks for. */
export const lookedFor = 'REJECTED';

/** The request of a look. It gives way to all others, and is never repeated. */
export function lookQuery(of: Outlook): ListQuery {
  const polite = { offset: 0, isSweep: true, once: true };
  return of === 'all' ? { ...polite, limit: pageSize } : { ...polite, limit: 1, status: lookedFor };
}

/** Whether an answer to this request is the whole list of the account; pure. */
export function isWholeList({ offset, status }: ListQuery, { total, length }: PartnerPage): boolean {
  return offset === 0 && status === undefined && total !== null && total <= length;
}

/** The sight of a page; pure. */
export function sightOf(of: Outlook, { total, filings }: PartnerPage): Sight {
  const rows = filings.map(({ id, status, completedAt, rejectionReason }) =>
    JSON.stringify([id, status, completedAt, rejectionReason]),
  );
  return { of, total, rows: hash('sha256', rows.toSorted().join('\n'), 'base64url') };
}

/** The difference between two sights; null for none, or if they cannot be compared. Pure. */
export function changeOf(before: Sight | null, after: Sight, { isOrdered }: Trust): Change | null {
  if (before === null || before.of !== after.of) return null;
  if (differ(before.total, after.total)) return 'total';
  return (isOrdered || after.of === 'all') && differ(before.rows, after.rows) ? 'rows' : null;
}

function differ<T>(before: T | null, after: T | null): boolean {
  return before !== null && after !== null && before !== after;
}

/** The trust after the poll that an alarm has caused; `events` is the number that it recorded. Pure. */
export function trustAfter(trust: Trust, of: Outlook, change: Change, events: number): Trust {
  if (events > 0) return { ...trust, vain: 0 };
  if (of === 'rejected' && change === 'rows') return { ...trust, isOrdered: false };
  return { ...trust, vain: trust.vain + 1 };
}

// Maximum number of looks that are left out after an alarm in vain.
const restMax = 63;

/** Number of looks to leave out after an alarm: none unless it was in vain, then ever more; pure. */
export function looksToRest({ vain }: Trust): number {
  return Math.min(2 ** vain - 1, restMax);
}
