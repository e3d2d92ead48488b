import type { EventType } from '../../events/event-types.ts';

/** The differences between two reads of the filing of the examples, by event type. */
const changes: Readonly<Partial<Record<EventType, object>>> = {
  'filing.created': { status: 'UNPAID', previousStatus: null, sequence: 1, changed: ['status'] },
  'filing.unpaid': { status: 'UNPAID', previousStatus: 'PAID', sequence: 3, changed: ['status'] },
  'filing.paid': { status: 'PAID', previousStatus: 'UNPAID', sequence: 2, changed: ['status'] },
  'filing.pending': { status: 'PENDING', previousStatus: 'PAID', sequence: 3, changed: ['status'] },
  'filing.completed': {
    status: 'COMPLETED',
    previousStatus: 'PENDING',
    completedAt: '2026-11-21T09:59:50.000Z',
    sequence: 4,
    changed: ['status', 'completedAt'],
  },
  'filing.rejected': {
    status: 'REJECTED',
    previousStatus: 'PENDING',
    rejectionReason: 'Affidavit is not signed',
    sequence: 4,
    changed: ['status', 'rejectionReason'],
  },
  'filing.reopened': { status: 'PENDING', previousStatus: 'COMPLETED', sequence: 5, changed: ['status'] },
  'filing.status_changed': {
    status: 'ON_HOLD',
    previousStatus: 'PENDING',
    sequence: 4,
    changed: ['status'],
  },
  'filing.removed': { status: 'PENDING', previousStatus: 'PENDING', sequence: 4, changed: [], filing: null },
  'filing.stalled': {
    status: 'PENDING',
    previousStatus: 'PENDING',
    sequence: 4,
    changed: [],
    stalled: { status: 'PENDING', since: '2026-11-11T10:00:02.480Z', after: 'P10D' },
  },
  'filing.snapshot': {
    status: 'REJECTED',
    previousStatus: null,
    rejectionReason: 'Affidavit is not signed',
    sequence: 4,
    changed: [],
  },
  'filing.restored': { status: 'PENDING', previousStatus: 'PENDING', sequence: 5, changed: [] },
};

const filing = {
  id: 'f_123',
  policyNumber: 'SL-2026-0042',
  insuredsName: 'Bluebonnet Roofing LLC',
  premium: 1200.5,
  filingState: { name: 'Texas', stateAbbr: 'TX' },
};

/**
 * The body of a callback of this type as the partner service's answer would lead to it; null for types whose
 * fields are example enough; pure.
 */
export function eventExample(type: EventType): object | null {
  const change = changes[type];
  if (change === undefined) return null;
  const seenAt = '2026-11-21T10:00:03.120Z';
  const { status } = change as { status: string };
  return {
    type,
    timestamp: seenAt,
    data: {
      account: 'default',
      filingId: filing.id,
      rejectionReason: null,
      completedAt: null,
      observed: { notBefore: '2026-11-21T09:59:48.017Z', notAfter: seenAt },
      inferred: false,
      filing: { ...filing, status },
      ...change,
    },
  };
}
