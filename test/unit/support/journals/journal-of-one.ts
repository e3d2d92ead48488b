import { createHmac } from 'node:crypto';
import type { Dwell, Journals, TapedCallback } from '../../../support/journals/journals.ts';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const noReason = { completedAt: null, rejectionReason: null };

function dwell(status: string, from: number, until: number): Dwell {
  return { account: 'one', filingId: 'f', state: { status, ...noReason }, from, until };
}

/** What a callback said, and what is odd about it. */
export interface Told {
  readonly at: number;
  readonly status: string;
  readonly before: string | null;
  readonly sequence: number;
  readonly id?: string;
  readonly account?: string;
  readonly answer?: number;
  readonly key?: string;
  readonly timestamp?: string;
}

function callback(told: Told): TapedCallback {
  const { at, status, before, sequence, account = 'one', id = `evt_${sequence}`, timestamp = '' } = told;
  const data = {
    account,
    filingId: 'f',
    status,
    previousStatus: before,
    sequence,
    ...noReason,
    observed: timestamp,
  };
  const body = Buffer.from(JSON.stringify({ type: `filing.${status.toLowerCase()}`, timestamp, data }));
  const seconds = String(Math.floor(at / 1000));
  const key = Buffer.from((told.key ?? secret).slice(6), 'base64');
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`;
  const answered = { arrivedAt: at, answeredAt: at + 1, status: told.answer ?? 200 };
  return { subscription: 's', id, timestamp: seconds, signature, body, ...answered };
}

/**
 * A filing of the baseline that becomes PAID at 1000 and PENDING at 2000, polled ten times a second, told as
 * given to one subscriber.
 */
export function journals(told: readonly Told[], edit: Partial<Journals> = {}): Journals {
  const dwells = [
    dwell('UNPAID', -Infinity, 1_000),
    dwell('PAID', 1_000, 2_000),
    dwell('PENDING', 2_000, Infinity),
  ];
  return {
    dwells,
    served: dwells.map(({ account, filingId, state, from }) => ({
      account,
      filingId,
      state,
      first: Math.max(0, from + 100),
    })),
    polls: Array.from({ length: 40 }, (_, i) => ({ account: 'one', from: i * 100, to: i * 100 + 50 })),
    subscribers: [{ id: 's', account: 'one', secret }],
    callbacks: told.map(callback),
    ...edit,
  };
}

/** The first of the two callbacks that say all of it. */
export const paid: Told = { at: 1_150, status: 'PAID', before: 'UNPAID', sequence: 1 };
/** The second of them. */
export const pending: Told = { at: 2_150, status: 'PENDING', before: 'PAID', sequence: 2 };
