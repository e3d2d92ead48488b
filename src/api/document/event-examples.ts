import type { TSchema } from 'typebox';
import type { EventType } from '../../events/event-types.ts';
import { opened, sampleOf } from './finish-document.ts';

const account = 'default';
const names = { policyNumber: 'SL-2026-0042', insuredsName: 'Bluebonnet Roofing LLC', premium: 1200.5 };
const details = {
  ...names,
  stateAbbr: 'TX',
  filingType: 'NEW_BUSINESS',
  carriersName: 'Lone Star Surety',
  createdAt: '2026-11-20T15:04:05.000Z',
  policyEffectiveDate: '2026-11-01T00:00:00.000Z',
  endorsementEffectiveDate: null,
  endorsementNumber: null,
};
const filing = {
  id: 'f_123',
  ...names,
  filingState: { name: 'Texas', stateAbbr: 'TX' },
};
const seenAt = '2026-11-21T10:00:03.120Z';
const lastCompletePollAt = '2026-11-21T09:59:48.017Z';
const rejectionReason = 'Affidavit is not signed';

/** `data` of an event by which the filing of the examples comes to its status; `more` are further fields. */
function move(previousStatus: string | null, status: string, sequence: number, more: object = {}) {
  return {
    account,
    filingId: filing.id,
    rejectionReason: null,
    completedAt: null,
    observed: { notBefore: lastCompletePollAt, notAfter: seenAt },
    inferred: false,
    filing: { ...filing, status },
    status,
    previousStatus,
    sequence,
    changed: ['status'],
    ...more,
  };
}

const stay = { changed: [] };
const rejected = { ...stay, rejectionReason };
const notKept = { filing: undefined, omitted: 'not_kept', details };

// Members of `data` that differ from the examples in its schema.
const dataByType: Readonly<Partial<Record<EventType, object>>> = {
  'filing.created': move(null, 'UNPAID', 1),
  'filing.unpaid': move('PAID', 'UNPAID', 3),
  'filing.paid': move('UNPAID', 'PAID', 2),
  'filing.pending': move('PAID', 'PENDING', 3),
  'filing.completed': move('PENDING', 'COMPLETED', 4, {
    completedAt: '2026-11-21T09:59:50.000Z',
    changed: ['status', 'completedAt'],
  }),
  'filing.rejected': move('PENDING', 'REJECTED', 4, {
    rejectionReason,
    changed: ['status', 'rejectionReason'],
  }),
  'filing.reopened': move('COMPLETED', 'PENDING', 5),
  'filing.status_changed': move('PENDING', 'ON_HOLD', 4),
  'filing.removed': move('PENDING', 'PENDING', 4, { ...stay, filing: null }),
  'filing.stalled': move('PENDING', 'PENDING', 4, {
    ...stay,
    stalled: { status: 'PENDING', since: '2026-11-11T10:00:02.480Z', after: 'P10D', seen: false },
  }),
  'filing.noted': move('REJECTED', 'REJECTED', 5, {
    ...rejected,
    note: {
      by: 'Dana Reyes',
      kind: 'seen',
      text: 'Asked the broker for the signed affidavit.',
      assignee: null,
    },
    ...notKept,
  }),
  'filing.due': move('REJECTED', 'REJECTED', 5, {
    ...rejected,
    dueAt: '2026-11-28T00:00:00.000Z',
    due: { dueAt: '2026-11-28T00:00:00.000Z', threshold: 'P7D', seen: false },
  }),
  'filing.resubmitted': move('REJECTED', 'REJECTED', 5, { ...rejected, answeredBy: 'f_124', ...notKept }),
  'filing.snapshot': move(null, 'REJECTED', 4, rejected),
  'filing.restored': move('PENDING', 'PENDING', 5, stay),
  'account.auth_failed': { lastError: 'auth: GET filings answered 401' },
  'account.doubtful': {
    lastError: 'doubtful: the list shows 0 of 300 known filings and 40 unknown ones',
    doubt: { reason: 'other_list', known: 300, shown: 0, unknown: 40, gone: 0, moved: 0 },
  },
  'account.stale': { lastError: 'timeout: GET filings took too long' },
};

/** An event of this type, with data of this schema, as the format `standard` sends it; pure. */
export function eventExample(type: EventType, schema: TSchema): object {
  const sample = type.startsWith('filing.') ? {} : sampleOf(opened(schema), {});
  // The page of its example is that of a filing.
  const { url: _url, ...data } = sample as { readonly url?: string };
  return {
    id: 'evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f',
    type,
    timestamp: seenAt,
    data: { ...data, ...dataByType[type] },
  };
}
