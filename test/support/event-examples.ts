import { buildHealthEvent, type HealthChange } from '../../src/polling/health.ts';
import {
  buildDisabledEvent,
  buildFellBehindEvent,
  buildRecoveredEvent,
} from '../../src/delivery/operational-events.ts';
import { sendPing, type PingDeps } from '../../src/delivery/ping.ts';
import { buildFilingEvent, buildSnapshotEvent, type NewEvent } from '../../src/events/event.ts';
import {
  detectChange,
  detectRemoval,
  detectPassed,
  type Detection,
} from '../../src/filings/detection/detect-change.ts';
import type { Deadlines } from '../../src/filings/detection/deadlines.ts';
import { toDueRules } from '../../src/filings/detection/due-dates.ts';
import { toStayLimits } from '../../src/filings/detection/stay-limits.ts';
import { toDetails } from '../../src/filings/detection/filing-details.ts';
import { answerCommit } from '../../src/filings/answers.ts';
import { encodeState, StoredState } from '../../src/filings/detection/filing-state.ts';
import type { FilingState, ShownState } from '../../src/filings/detection/filing-state.ts';
import type { ReadSpan } from '../../src/partner/read-span.ts';
import type { PollingMarks } from '../../src/polling/store/marks.ts';
import type { Doubt } from '../../src/polling/beliefs/doubt.ts';
import type { Subscription } from '../../src/subscriptions/subscription.ts';
import { buildDigestEvent } from '../../src/daemon/upkeep/digests.ts';
import { buildExpiryEvent } from '../../src/subscriptions/certificate-warnings.ts';

/** An event as docs/webhooks.md shows it, made by the code that makes real ones. */
export type Example = Pick<NewEvent, 'id' | 'filingId' | 'body'>;

const exampleTls = {
  cert: '',
  key: '',
  ca: null,
  shown: {
    cert: {
      subject: 'CN=filing-webhooks, O=Example Ltd',
      issuer: 'CN=Example Issuing CA',
      serialNumber: '4a1f09c2',
      fingerprint: 'f'.repeat(64),
      notAfter: '2026-12-21T10:00:00.000Z',
    },
    ca: null,
  },
};

const ids = { account: 'default', filingId: 'f_7f3a91c2' };

/** A filing document of the partner service in the state that a read shows. */
const documentOf = (read: ShownState) => ({
  id: ids.filingId,
  filingType: 'NEW_BUSINESS',
  userId: 'u_20481',
  filingStateId: '5d0f3c1e-8a3b-4f57-9a53-5c2a2f1f8f0e',
  filingState: { id: '5d0f3c1e-8a3b-4f57-9a53-5c2a2f1f8f0e', name: 'Texas', stateAbbr: 'TX' },
  policyNumber: 'GL-2026-004417',
  insuredsName: 'Bluebonnet Roofing LLC',
  carriersName: 'Harbor Specialty Insurance Company',
  policyEffectiveDate: '2026-11-01T00:00:00.000Z',
  premium: 18250.5,
  status: read.status,
  userFiles: [
    {
      id: 'uf_90c2',
      name: 'Affidavit',
      fileName: 'affidavit.pdf',
      filePath: 'u_20481/affidavit-90c2.pdf',
      createdAt: '2026-11-21T09:58:10.000Z',
      updatedAt: '2026-11-21T09:58:10.000Z',
    },
  ],
  createdAt: '2026-11-21T09:59:40.000Z',
  completedAt: read.completedAt,
  rejectionReason: read.rejectionReason,
});

const read = (status: string, rest: Partial<ShownState> = {}): ShownState => ({
  status,
  completedAt: null,
  rejectionReason: null,
  ...rest,
});

const known = (sequence: number, state: ShownState, removed = false): FilingState => ({
  ...state,
  sequence,
  since: 0,
  readFrom: 0,
  readAt: 0,
  removed,
});

/** The event of a poll that starts at `at`, when the filing was last seen as before `unseenMs` earlier. */
function filingEvent(
  before: FilingState | null,
  after: ShownState | null,
  at: string,
  unseenMs = 15_000,
): Example {
  const start = Date.parse(at);
  const window = { start, end: start + 103 };
  const detection =
    after === null
      ? detectRemoval(before ?? known(0, read('')), window)
      : detectChange(before, after, window, true);
  return eventOf(detection, before, after, window, unseenMs);
}

function eventOf(
  detection: Detection,
  before: FilingState | null,
  after: ShownState | null,
  window: ReadSpan,
  unseenMs: number,
): Example {
  if (detection.kind !== 'change') throw new Error(`no event: ${detection.kind}`);
  return buildFilingEvent({
    ...ids,
    generation: 'g',
    ...detection,
    sequence: detection.next.sequence,
    before,
    after: detection.next,
    notBefore: window.start - unseenMs,
    notAfter: window.end,
    document: after === null ? null : documentOf(after),
    ...reportOf(detection),
  });
}

function reportOf({ passed, next }: Detection & { kind: 'change' }) {
  if (passed === undefined) return {};
  if (passed.type === 'filing.stalled')
    return { stalled: { since: next.since, after: passed.limit.after, seen: false } };
  const { dueAt, warning } = passed;
  return { dueAt, due: { dueAt, threshold: warning.after, seen: false } };
}

/** The event of a poll that finds the filing to have passed a deadline, and otherwise as it was before. */
function passedEvent(before: FilingState, deadlines: Partial<Deadlines>, at: string): Example {
  const window = { start: Date.parse(at), end: Date.parse(at) + 103 };
  const detection = detectPassed(before, { limits: new Map(), due: null, ...deadlines }, window);
  return eventOf(detection, before, before, window, 15_000);
}

function answerEvent(): Example {
  const shown = read('REJECTED', { rejectionReason: reason });
  const state = { ...known(4, shown), readAt: Date.parse('2026-11-21T10:00:03.120Z') };
  const rejection = {
    id: ids.filingId,
    stored: new StoredState(encodeState(state)),
    details: toDetails(documentOf(shown)),
  };
  const place = { account: ids.account, generation: 'g' };
  const at = Date.parse('2026-11-22T09:12:48.310Z');
  const { event } = answerCommit(place, rejection, 'f_90bb1d07', at);
  if (event === null) throw new Error('no event');
  return event;
}

function snapshotEvent(): Example {
  const state = { ...known(0, read('REJECTED', { rejectionReason: 'Affidavit is not signed' })) };
  const readAt = Date.parse('2026-11-21T10:00:03.120Z');
  return buildSnapshotEvent({
    ...ids,
    generation: 'g',
    subscription: 'sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506',
    state: { ...state, readFrom: readAt - 103, readAt },
    details: toDetails(documentOf(state)),
    document: null,
  });
}

function notedEvent(): Example {
  const state = known(4, read('REJECTED', { rejectionReason: 'Affidavit is not signed' }));
  const at = Date.parse('2026-11-21T16:31:12.480Z');
  return buildFilingEvent({
    ...ids,
    generation: 'g',
    type: 'filing.noted',
    sequence: 5,
    before: state,
    after: state,
    changed: [],
    inferred: false,
    notBefore: at,
    notAfter: at,
    document: null,
    details: toDetails(documentOf(state)),
    note: {
      by: 'Dana Reyes',
      kind: 'seen',
      text: 'Asked the broker for the signed affidavit.',
      assignee: null,
    },
  });
}

const firstDone = '2026-11-23T15:04:51.000Z';
const secondDone = '2026-11-25T09:30:02.000Z';
const reason = 'Affidavit is not signed';

const filingEvents: Readonly<Record<string, Example>> = {
  created: filingEvent(null, read('UNPAID'), '2026-11-21T10:00:03.017Z'),
  unpaid: filingEvent(known(2, read('PAID')), read('UNPAID'), '2026-11-21T10:20:03.000Z'),
  paid: filingEvent(known(1, read('UNPAID')), read('PAID'), '2026-11-21T10:12:48.000Z'),
  pending: filingEvent(known(2, read('PAID')), read('PENDING'), '2026-11-21T13:41:18.000Z'),
  completed: filingEvent(
    known(3, read('PENDING')),
    read('COMPLETED', { completedAt: firstDone }),
    '2026-11-23T15:05:03.000Z',
  ),
  completedAgain: filingEvent(
    known(4, read('COMPLETED', { completedAt: firstDone })),
    read('COMPLETED', { completedAt: secondDone }),
    '2026-11-25T09:44:55.000Z',
    900_000,
  ),
  rejected: filingEvent(
    known(3, read('PENDING')),
    read('REJECTED', { rejectionReason: reason }),
    '2026-11-21T16:20:33.000Z',
  ),
  rejectedForAnotherReason: filingEvent(
    known(4, read('REJECTED', { rejectionReason: reason })),
    read('REJECTED', { rejectionReason: 'Affidavit is not signed; diligent effort form is missing' }),
    '2026-11-21T16:44:55.000Z',
    900_000,
  ),
  reopened: filingEvent(
    known(4, read('COMPLETED', { completedAt: firstDone })),
    read('PENDING', { completedAt: firstDone }),
    '2026-11-24T08:15:18.000Z',
  ),
  statusChanged: filingEvent(known(3, read('PENDING')), read('ON_HOLD'), '2026-11-21T14:02:33.000Z'),
  removed: filingEvent(known(1, read('UNPAID')), null, '2026-11-21T11:00:18.000Z', 30_000),
  restored: filingEvent(known(2, read('UNPAID'), true), read('UNPAID'), '2026-11-21T11:30:03.000Z'),
  stalled: passedEvent(
    { ...known(3, read('PENDING')), since: Date.parse('2026-11-21T13:41:18.103Z') },
    { limits: toStayLimits({ PENDING: 'P10D' }) },
    '2026-12-01T13:41:33.000Z',
  ),
  due: passedEvent(
    {
      ...known(4, read('REJECTED', { rejectionReason: reason })),
      effective: { stateAbbr: 'TX', at: Date.parse('2026-11-01T00:00:00.000Z') },
    },
    { due: toDueRules({ due: { TX: 'P60D' }, dueWarnings: null }) },
    '2026-12-24T00:00:12.000Z',
  ),
  resubmitted: answerEvent(),
  snapshot: snapshotEvent(),
  noted: notedEvent(),
};

/** Subscription of the examples, in a format and with a payload. */
export function exampleSubscription(settings: Partial<Subscription> = {}): Subscription {
  return {
    id: 'sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506',
    account: ids.account,
    url: 'https://example.com/hooks/filings?key=hidden',
    eventTypes: ['filing.*'],
    states: null,
    description: null,
    headers: {},
    format: 'standard',
    payload: 'full',
    secrets: [{ text: `whsec_${Buffer.alloc(24).toString('base64')}`, expiresAt: null }],
    createdAt: 0,
    updatedAt: 0,
    ...settings,
  };
}

function healthEvent(
  type: NonNullable<HealthChange>,
  marks: Partial<PollingMarks>,
  at: string,
  doubt: Doubt | null = null,
): Example {
  const complete = { generation: '', lastCompletePollAt: 0, lastError: '', toldAt: 0, ...marks };
  return buildHealthEvent(ids.account, type, complete, Date.parse(at), { doubt });
}

function digestEvent(): Example {
  const state = known(4, read('REJECTED', { rejectionReason: reason }));
  const since = Date.parse('2026-11-21T16:20:33.103Z');
  const rejection = {
    account: ids.account,
    id: ids.filingId,
    state: { ...state, since },
    details: toDetails(documentOf(state)),
    seen: null,
    assignee: null,
    note: null,
    answers: null,
    dueAt: null,
  };
  const facts = {
    counts: { open: 1, new: 1, overdue: 0, unseen: 1, answered: 0, toldToNobody: 0, failingEndpoints: 0 },
    rejections: [rejection],
    since: Date.parse('2026-11-20T14:00:01.512Z'),
    asOf: Date.parse('2026-11-23T13:59:48.000Z'),
  };
  return buildDigestEvent(ids.account, '2026-11-23', facts, Date.parse('2026-11-23T14:00:02.480Z'));
}

function disabledEvent(): Example {
  const at = Date.parse('2026-11-21T10:31:07.250Z');
  return buildDisabledEvent(exampleSubscription(), 'the endpoint answered 410 Gone', 17, at);
}

async function pingEvent(): Promise<Example> {
  const sent: Buffer[] = [];
  const deps = {
    journal: { addTest: () => Promise.resolve() },
    wallClock: () => Date.parse('2026-11-21T10:00:00.000Z'),
    now: () => Date.parse('2026-11-21T10:00:00.000Z'),
    client: {
      post: ({ body }: { body: Buffer }) => {
        sent.push(body);
        return Promise.resolve({ kind: 'failure', code: 'timeout', detail: '', sent: true, durationMs: 0 });
      },
    },
  } as unknown as PingDeps;
  await sendPing(deps, { ...exampleSubscription(), description: 'Claims desk' });
  const id = 'evt_2d9b6c1f70a84e35b6d1c8f2a7e4930b';
  return { id, filingId: '', body: String(sent[0]).replace(/evt_[0-9a-f]{32}/, id) };
}

/** Every event that docs/webhooks.md shows, by a name of its own, in the order of the document. */
export async function eventExamples(): Promise<Readonly<Record<string, Example>>> {
  const lastCompletePollAt = Date.parse('2026-11-21T10:14:48.000Z');
  const operational = {
    authFailed: healthEvent(
      'account.auth_failed',
      { lastCompletePollAt, lastError: 'auth: GET filings answered 401' },
      '2026-11-21T10:15:03.114Z',
    ),
    doubtful: healthEvent(
      'account.doubtful',
      {
        lastCompletePollAt,
        lastError: 'doubtful: the list shows 0 of 300 known filings and 40 unknown ones',
      },
      '2026-11-21T10:15:33.218Z',
      { reason: 'other_list', known: 300, shown: 0, unknown: 40, gone: 0, moved: 0, identity: '' },
    ),
    stale: healthEvent(
      'account.stale',
      { lastCompletePollAt, lastError: 'timeout: GET filings took too long' },
      '2026-11-21T10:16:20.902Z',
    ),
    recovered: healthEvent(
      'account.recovered',
      { lastCompletePollAt: Date.parse('2026-11-21T10:22:31.000Z'), toldAt: 1 },
      '2026-11-21T10:22:31.480Z',
    ),
    digest: digestEvent(),
    certificate: buildExpiryEvent(
      { ...exampleSubscription(), tls: exampleTls },
      { kind: 'cert', notAfter: Date.parse(exampleTls.shown.cert.notAfter) },
      Date.parse('2026-11-21T10:30:00.412Z'),
    ),
    disabled: disabledEvent(),
    subscriptionRecovered: buildRecoveredEvent(
      exampleSubscription(),
      { disabledAt: Date.parse('2026-11-21T10:31:07.250Z'), waiting: 38, lost: 0 },
      Date.parse('2026-11-21T13:31:09.114Z'),
    ),
    fellBehind: buildFellBehindEvent(
      exampleSubscription(),
      { events: 412, position: 90_412 },
      Date.parse('2026-11-21T11:02:00.018Z'),
    ),
  };
  return { ...filingEvents, ping: await pingEvent(), ...operational };
}
