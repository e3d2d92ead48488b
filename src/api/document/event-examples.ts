import type { EventType } from '../../events/event-types.ts';

type Move = readonly [from: string | null, to: string, sequence: number, more?: object];

/** How the filing of the examples comes to its status, by event type; `more` are further fields of `data`. */
const moves: Readonly<Partial<Record<EventType, Move>>> = {
  'filing.created': [null, 'UNPAID', 1],
  'filing.unpaid': ['PAID', 'UNPAID', 3],
  'filing.paid': ['UNPAID', 'PAID', 2],
  'filing.pending': ['PAID', 'PENDING', 3],
  'filing.completed': [
    'PENDING',
    'COMPLETED',
    4,
    { completedAt: '2026-11-21T09:59:50.000Z', changed: ['status', 'completedAt'] },
  ],
  'filing.rejected': [
    'PENDING',
    'REJECTED',
    4,
    { rejectionReason: 'Affidavit is not signed', changed: ['status', 'rejectionReason'] },
  ],
  'filing.reopened': ['COMPLETED', 'PENDING', 5],
  'filing.status_changed': ['PENDING', 'ON_HOLD', 4],
  'filing.removed': ['PENDING', 'PENDING', 4, { changed: [], filing: null }],
  'filing.stalled': [
    'PENDING',
    'PENDING',
    4,
    { changed: [], stalled: { status: 'PENDING', since: '2026-11-11T10:00:02.480Z', after: 'P10D' } },
  ],
  'filing.snapshot': [null, 'REJECTED', 4, { changed: [], rejectionReason: 'Affidavit is not signed' }],
  'filing.restored': ['PENDING', 'PENDING', 5, { changed: [] }],
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
  const move = moves[type];
  if (move === undefined) return null;
  const [previousStatus, status, sequence, more = {}] = move;
  const seenAt = '2026-11-21T10:00:03.120Z';
  return {
    id: 'evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f',
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
      status,
      previousStatus,
      sequence,
      changed: ['status'],
      ...more,
    },
  };
}
