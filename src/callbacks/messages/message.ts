import { notedType } from '../../events/event-types.ts';
import { premiumText, spanText, statusWord, textOf, timeText } from './words.ts';

/** The body of an event, as far as messages show it. */
export interface EventBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event in words, in the order in which a person reads it. Texts are as they came, not escaped. */
export interface Message {
  /** The outcome in words, such as `Rejected`. */
  readonly outcome: string;
  readonly tone: 'good' | 'bad' | 'warn' | 'plain';
  /** The filing by insured, policy, state and premium; or an id. */
  readonly subject: readonly string[];
  /** The reason in the words of the partner service or the daemon; empty without one. */
  readonly reason: string;
  /** Single filings of a digest, one a line; empty for all other events. */
  readonly items: readonly MessageItem[];
  /** Account, id and what else helps to find it. */
  readonly facts: readonly string[];
  /** ISO 8601. */
  readonly at: string;
  /** Address of its page, or null if unknown. */
  readonly link: string | null;
  /** Address of the page for taking the rejection, or null if there is none to take. */
  readonly take: string | null;
}

/** A line of a message. */
export interface MessageItem {
  readonly text: readonly string[];
  /** Address of its page, or null if unknown. */
  readonly link: string | null;
}

// Maximum characters of an address: Slack takes 3 000, those of `?take=1` among them.
const linkLengthMax = 2_990;

/** Puts an event into words. Pure. */
export function toMessage(event: EventBody): Message {
  const { data, timestamp } = event;
  const about = textOf(data['filingId']) === '' ? ofOperation(event) : ofFiling(event);
  const items = event.type === 'account.digest' ? itemsOf(event) : [];
  const link = linkOf(data);
  const isRejection = data['status'] === 'REJECTED' && event.type !== notedType && !isAnswered(data);
  const take = link !== null && isRejection ? `${link}?take=1` : null;
  return { ...about, items, at: timestamp, link, take };
}

type About = Omit<Message, 'items' | 'at' | 'link' | 'take'>;

function ofFiling(event: EventBody): About {
  const { type, data } = event;
  const [status, before] = [textOf(data['status']), textOf(data['previousStatus'])];
  const moved = before === '' || before === status || type === 'filing.snapshot' ? [] : [`was ${before}`];
  const filing = (data['filing'] ?? data['details'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    outcome: status === '' ? type : outcomeOf(event, statusWord(status)),
    tone: toneOf(type, data, status),
    subject: subjectOf(filing, textOf(data['filingId'])),
    reason: noteOf(data) ?? textOf(data['rejectionReason']),
    facts: [
      `account ${textOf(data['account'])}`,
      textOf(data['filingId']),
      ...moved,
      ...sinceOf(data),
      ...answerOf(data),
      ...dueOf(event),
    ],
  };
}

// The rejection is not open any more.
function isAnswered({ answeredBy }: EventBody['data']): boolean {
  return textOf(answeredBy) !== '';
}

function answerOf(data: EventBody['data']): string[] {
  return isAnswered(data) ? [`answered by ${textOf(data['answeredBy'])}`] : [];
}

function outcomeOf(event: EventBody, word: string): string {
  const { type, data } = event;
  const changed = Array.isArray(data['changed']) ? (data['changed'] as unknown[]) : [];
  switch (type) {
    case 'filing.created':
      return `${word} (new filing)`;
    case 'filing.restored':
      return `${word} (known to the service again)`;
    case 'filing.removed':
      return `Removed (was ${word})`;
    case 'filing.reopened':
      return `Reopened (${word})`;
    case 'filing.snapshot':
      return `${word} (as it stands)`;
    case 'filing.stalled':
      return `${word} for ${stayText(event)}`;
    case 'filing.resubmitted':
      return isAnswered(data) ? 'Resubmitted' : `${word} (no filing answers it any more)`;
    case 'filing.due':
      return `${word}, ${leftText(textOf(data['dueAt']), event.timestamp)}`;
    case 'filing.noted':
      return notedText(data['note']);
    default:
      if (changed.includes('status')) return word;
      return changed.includes('rejectionReason') ? `${word} (the reason changed)` : `${word} (again)`;
  }
}

function toneOf(type: string, data: EventBody['data'], status: string): Message['tone'] {
  if (isAnswered(data) || type === notedType) return 'plain';
  if (status === 'REJECTED') return 'bad';
  if (type === 'filing.stalled' || type === 'filing.due') return 'warn';
  return status === 'COMPLETED' ? 'good' : 'plain';
}

function notedText(note: unknown): string {
  const { by, kind, assignee } = (note ?? {}) as Readonly<Record<string, unknown>>;
  const name = textOf(by);
  switch (kind) {
    case 'seen':
      return `Seen by ${name}`;
    case 'undone':
      return `Not seen after all: ${name}`;
    case 'assigned':
      return textOf(assignee) === ''
        ? `Assigned to nobody by ${name}`
        : `Assigned to ${textOf(assignee)} by ${name}`;
    default:
      return `Note by ${name}`;
  }
}

// The text of a note in place of the reason; null for other events.
function noteOf({ note }: EventBody['data']): string | null {
  return typeof note === 'object' && note !== null ? textOf((note as { text?: unknown }).text) : null;
}

function sinceOf({ status, stalled }: EventBody['data']): string[] {
  if (typeof stalled !== 'object' || stalled === null) return [];
  const { since, after, seen } = stalled as { since?: unknown; after?: unknown; seen?: unknown };
  const unseen = status === 'REJECTED' && seen === false ? ['nobody has seen it'] : [];
  return [`since ${timeText(textOf(since))}`, `limit ${textOf(after)}`, ...unseen];
}

// How long the filing had been in its status.
function stayText({ timestamp, data }: EventBody): string {
  const { since } = (data['stalled'] ?? {}) as { since?: unknown };
  const ms = Date.parse(timestamp) - Date.parse(textOf(since));
  return Number.isFinite(ms) ? spanText(ms) : 'too long';
}

function leftText(dueAt: string, timestamp: string): string {
  if (isOverdue(dueAt, timestamp)) return 'overdue';
  const ms = Date.parse(dueAt) - Date.parse(timestamp);
  return Number.isFinite(ms) ? `due in ${spanText(ms)}` : 'due soon';
}

function isOverdue(dueAt: string, timestamp: string): boolean {
  return Date.parse(dueAt) <= Date.parse(timestamp);
}

function dueWords(dueAt: string, timestamp: string): string {
  return `${isOverdue(dueAt, timestamp) ? 'overdue since' : 'due'} ${dueAt.slice(0, 10)}`;
}

// A filing that is completed or answered is due no more.
function dueOf(event: EventBody): string[] {
  const { data } = event;
  const at = textOf(data['dueAt']);
  if (at === '' || data['status'] === 'COMPLETED' || isAnswered(data)) return [];
  const { seen } = (data['due'] ?? {}) as { seen?: unknown };
  const isUnseen = seen === false && data['status'] === 'REJECTED';
  return [dueWords(at, event.timestamp), ...(isUnseen ? ['seen by nobody'] : [])];
}

// The names by which people know the filing, or else its id.
function subjectOf(filing: Readonly<Record<string, unknown>>, id: string): string[] {
  const policy = textOf(filing['policyNumber']);
  const names = [textOf(filing['insuredsName']), policy === '' ? '' : `policy ${policy}`];
  const state = (filing['filingState'] ?? filing) as { stateAbbr?: unknown };
  const known = [...names, textOf(state.stateAbbr), premiumText(filing['premium'])];
  const shown = known.filter((part) => part !== '');
  return names.some((part) => part !== '') ? shown : [`filing ${id}`, ...shown];
}

// The counts of a digest behind that of open rejections, in the order of their weight.
const digestCounts = [
  ['new', 'new'],
  ['overdue', 'overdue'],
  ['unseen', 'seen by nobody'],
  ['toldToNobody', 'told to nobody'],
  ['answered', 'answered'],
  ['failingEndpoints', 'endpoints fail'],
] as const;

function ofDigest({ data }: EventBody): About {
  const counts = (data['counts'] ?? {}) as Readonly<Record<string, number>>;
  const open = counts['open'] ?? 0;
  const others = digestCounts.flatMap(([name, words]) => (counts[name] ? [`${counts[name]} ${words}`] : []));
  return {
    outcome: `Digest: ${open} ${open === 1 ? 'rejection' : 'rejections'}`,
    tone: counts['overdue'] ? 'bad' : open === 0 ? 'good' : 'warn',
    subject: [`account ${textOf(data['account'])}`, ...others],
    reason: '',
    facts: [textOf(data['date'])],
  };
}

function itemsOf({ timestamp, data }: EventBody): MessageItem[] {
  const page = linkOf(data);
  const rejections = (data['rejections'] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return rejections.map(({ filingId, policyNumber, insuredsName, stateAbbr, dueAt, ...more }) => {
    const filing = { policyNumber, insuredsName, filingState: { stateAbbr } };
    const since = `since ${timeText(textOf(more['since']))}`;
    const due = textOf(dueAt) === '' ? '' : dueWords(textOf(dueAt), timestamp);
    const rest = [since, due, textOf(more['rejectionReason'])];
    return {
      text: [...subjectOf(filing, textOf(filingId)), ...rest.filter((part) => part !== '')],
      link: page === null ? null : linkOf({ url: `${page}/filing/${encodeURIComponent(textOf(filingId))}` }),
    };
  });
}

function ofOperation(event: EventBody): About {
  const { type, data } = event;
  if (type === 'account.digest') return ofDigest(event);
  const reason = textOf(data['reason']) || textOf(data['lastError']) || certificateText(data);
  const account = `account ${textOf(data['account'])}`;
  const subscription = textOf(data['subscription']);
  const name = data['expired'] === true ? `${type} expired` : type;
  const { outcome, tone } = operational[name] ?? operational[type] ?? { outcome: type, tone: 'plain' };
  const events = countWords.flatMap(([field, words]) =>
    data[field] ? [`${Number(data[field])} ${words}`] : [],
  );
  const endpoint = textOf(data['endpoint']);
  if (type === 'ping') {
    const subject = [account, textOf(data['description'])].filter((part) => part !== '');
    return { outcome, tone, subject, reason, facts: [type] };
  }
  return {
    outcome,
    tone,
    subject: subscription === '' ? [account] : [endpoint || subscription, ...events],
    reason,
    facts: subscription === '' ? [type] : [account, subscription],
  };
}

// The counts of operational events, and what they count.
const countWords = [
  ['events', 'events'],
  ['waiting', 'events waited'],
  ['lost', 'events lost'],
] as const;

function certificateText(data: EventBody['data']): string {
  const [subject, notAfter] = [textOf(data['subject']), textOf(data['notAfter'])];
  return notAfter === '' ? '' : `${subject || 'the certificate'} ends ${timeText(notAfter)}`;
}

const operational: Readonly<Record<string, Pick<About, 'outcome' | 'tone'>>> = {
  ping: { outcome: 'Test: messages arrive', tone: 'good' },
  'account.auth_failed': { outcome: 'The partner service refuses the key', tone: 'bad' },
  'account.doubtful': { outcome: 'Changes are held back', tone: 'bad' },
  'account.stale': { outcome: 'The filings can no longer be read', tone: 'bad' },
  'account.recovered': { outcome: 'The filings are read again', tone: 'good' },
  'account.certificate_expiring': { outcome: 'A certificate is about to expire', tone: 'bad' },
  'account.certificate_expiring expired': { outcome: 'A certificate has expired', tone: 'bad' },
  'subscription.disabled': { outcome: 'Subscription disabled', tone: 'bad' },
  'subscription.recovered': { outcome: 'Subscription enabled again', tone: 'good' },
  'subscription.fell_behind': { outcome: 'Subscription has lost events', tone: 'bad' },
};

function linkOf({ url }: EventBody['data']): string | null {
  const link = textOf(url);
  return link === '' || link.length > linkLengthMax ? null : link;
}
