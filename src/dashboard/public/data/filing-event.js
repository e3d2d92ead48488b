import { roundedDuration } from '../parts/format.js';

/** @import { FilingEvent, FilingWithEvents } from '../../api-types.ts' */

/**
 * The facts of an event, for a line of text. A fact that the event does not have is null.
 * @typedef {object} EventFacts
 * @property {string | null} filingId null for operational events
 * @property {string | null} subscription
 * @property {string | null} endpoint of the subscription, without its path
 * @property {string | null} insured
 * @property {string | null} policy
 * @property {string | null} state
 * @property {string | null} from
 * @property {string | null} to
 * @property {string | null} reason why it was rejected or disabled, or why the last poll failed; or a note
 * @property {string | null} answeredBy the filing that answers the rejection
 * @property {string | null} happened in words, or null if `from` and `to` name the status that was reached
 * @property {boolean} inferred
 * @property {boolean} tooLarge whether the filing was too large to be part of the event
 */

/**
 * The facts of an event; pure. Filings arrive as the partner service sends them, so nothing in them is relied
 * on.
 * @param {FilingEvent} event
 * @returns {EventFacts}
 */
export function eventFacts(event) {
  const { data } = event;
  const happened = whatHappened(event);
  const filing = asObject(data['filing'] ?? data['details']);
  const note = data['note'] === undefined ? null : asObject(data['note']);
  return {
    filingId: text(data['filingId']),
    subscription: text(data['subscription']),
    endpoint: text(data['endpoint']),
    insured: text(filing['insuredsName']),
    policy: text(filing['policyNumber']),
    state: text(asObject(filing['filingState'] ?? filing)['stateAbbr']),
    from: happened === null ? text(data['previousStatus']) : null,
    to: happened === null ? text(data['status']) : null,
    reason:
      note === null
        ? (text(data['rejectionReason']) ?? text(data['reason']) ?? text(data['lastError']))
        : text(note['text']),
    happened,
    answeredBy: text(data['answeredBy']),
    inferred: data['inferred'] === true,
    tooLarge: data['omitted'] === 'too_large',
  };
}

// Null for an event by which a filing reached a status.
/** @type {(event: FilingEvent) => string | null} */
function whatHappened({ type, timestamp, data }) {
  if (data['note'] !== undefined) return notedWords(asObject(data['note']));
  const status = text(data['status']);
  if (status === null || status !== text(data['previousStatus'])) return null;
  switch (type) {
    case 'filing.stalled':
      return stalledWords(status, asObject(data['stalled']), Date.parse(timestamp));
    case 'filing.due':
      return dueWords(status, asObject(data['due']), Date.parse(timestamp));
    case 'filing.resubmitted':
      return text(data['answeredBy']) === null ? 'No filing answers it any more' : 'Resubmitted';
    case 'filing.removed':
      return `No longer known to the partner service, was ${status}`;
    case 'filing.restored':
      return `${status}, known to the partner service again`;
    default:
      return asList(data['changed']).includes('rejectionReason')
        ? `${status}, the reason changed`
        : `${status} again`;
  }
}

/** @type {(status: string, stalled: Record<string, unknown>, at: number) => string} */
function stalledWords(status, { since, seen }, at) {
  return `${status} for ${roundedDuration(at - Date.parse(text(since) ?? ''))}${unseenWords(status, seen)}`;
}

/** @type {(status: string, due: Record<string, unknown>, at: number) => string} */
function dueWords(status, { dueAt, seen }, at) {
  const left = Date.parse(text(dueAt) ?? '') - at;
  return `${status}, ${left > 0 ? `due in ${roundedDuration(left)}` : 'overdue'}${unseenWords(status, seen)}`;
}

/** @type {(status: string, seen: unknown) => string} */
const unseenWords = (status, seen) => (status === 'REJECTED' && seen === false ? ', nobody has seen it' : '');

/** @type {(note: Record<string, unknown>) => string} */
function notedWords({ by, kind, assignee }) {
  const to = text(assignee);
  /** @type {Readonly<Record<string, string>>} */
  const words = {
    seen: 'has seen it',
    undone: 'took the mark back',
    note: 'wrote a note',
    assigned: to === null ? 'assigned it to nobody' : `assigned it to ${to}`,
  };
  return `${text(by) ?? 'Somebody'} ${words[text(kind) ?? ''] ?? 'noted something'}`;
}

/** @type {(filing: FilingWithEvents) => Record<string, unknown>} */
const latestDocument = ({ events }) =>
  asObject(events.findLast(({ data }) => data['filing'])?.data['filing']);

/**
 * A filing with the names that people know it by: the daemon does not keep them for COMPLETED filings, but
 * the latest event still has them; pure.
 * @param {FilingWithEvents} filing
 * @returns {FilingWithEvents}
 */
export function withKnownDetails(filing) {
  const latest = latestDocument(filing);
  const { premium } = latest;
  return {
    ...filing,
    insuredsName: filing.insuredsName ?? text(latest['insuredsName']),
    policyNumber: filing.policyNumber ?? text(latest['policyNumber']),
    stateAbbr: filing.stateAbbr ?? text(asObject(latest['filingState'])['stateAbbr']),
    filingType: filing.filingType ?? text(latest['filingType']),
    premium: filing.premium ?? (typeof premium === 'number' ? premium : null),
    carriersName: filing.carriersName ?? text(latest['carriersName']),
    createdAt: filing.createdAt ?? text(latest['createdAt']),
    policyEffectiveDate: filing.policyEffectiveDate ?? text(latest['policyEffectiveDate']),
  };
}

/**
 * Whether an event matches a search: the line has to show every word of the search; pure.
 * @param {FilingEvent} event
 * @param {string} search
 */
export function matchesSearch(event, search) {
  const { filingId, endpoint, insured, policy, state, from, to, happened, reason, answeredBy } =
    eventFacts(event);
  const shown = folded(
    [event.type, filingId, endpoint, insured, policy, state, from, to, happened, reason, answeredBy].join(
      '\n',
    ),
  );
  return folded(search)
    .split(/\s+/)
    .every((word) => shown.includes(word));
}

/** @type {(value: unknown) => Record<string, unknown>} */
function asObject(value) {
  return typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {};
}

/** @type {(value: unknown) => unknown[]} */
function asList(value) {
  return Array.isArray(value) ? value : [];
}

/** @type {(value: unknown) => string | null} */
function text(value) {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : null;
}

/**
 * A text as it is compared with others, as the daemon compares them (src/words/folded.ts); pure.
 * @param {string} words
 */
export function folded(words) {
  const lower = words.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return lower.replaceAll(/\p{DI}|(?<=i)\u0307/gu, '').normalize('NFKC');
}
