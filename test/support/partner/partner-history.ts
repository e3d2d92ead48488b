import type { HostilePartner } from './hostile-partner.ts';
import { partnerRow } from './hostile-partner.ts';
import type { SeenEvent } from './watched-account.ts';

/** What a filing really was from a moment on; null: it was not there. Milliseconds on Redis's clock. */
interface Fact {
  readonly at: number;
  readonly state: string | null;
}

/** A partner service that remembers the truth, so that what events say can be held against it. */
export interface PartnerHistory {
  birth(status: string): void;
  change(which: number, status: string): void;
  /** The same status with another `completedAt` or reason. */
  edit(which: number): void;
  remove(which: number): void;
  /** Brings one back as it was when it went. */
  bringBack(which: number): void;
  /** Why an event is not true; null when it is. */
  lieIn(event: SeenEvent, baselineFrom: number): string | null;
}

/** Keeps the books for a partner service that is changed through it only. */
export function keepHistory(partner: HostilePartner, now: () => number): PartnerHistory {
  const facts = new Map<string, Fact[]>();
  const gone: (typeof partner.rows)[number][] = [];
  let born = partner.rows.length;
  let edits = 0;

  function note(id: string, state: string | null): void {
    facts.set(id, [...(facts.get(id) ?? []), { at: now(), state }]);
  }
  function write(id: string, fields: Readonly<Record<string, unknown>>): void {
    partner.put(id, fields);
    note(id, stateOf(partner.rows.find((row) => row.id === id) ?? {}));
  }
  const pick = (which: number) => partner.rows[which % Math.max(1, partner.rows.length)];
  for (const row of partner.rows) facts.set(String(row.id), [{ at: 0, state: stateOf(row) }]);

  return {
    birth(status) {
      born += 1;
      const createdAt = new Date(now()).toISOString();
      write(`f${born}`, { ...partnerRow('', status), id: `f${born}`, createdAt });
    },
    change(which, status) {
      const row = pick(which);
      edits += 1;
      if (row === undefined || row.status === status) return;
      write(String(row.id), {
        status,
        completedAt: status === 'COMPLETED' ? new Date(1.7e12 + edits * 1000).toISOString() : null,
        rejectionReason: status === 'REJECTED' ? `reason ${edits}` : null,
      });
    },
    edit(which) {
      const row = pick(which);
      edits += 1;
      if (row?.status === 'COMPLETED')
        write(String(row.id), { completedAt: new Date(1.7e12 + edits * 1000).toISOString() });
      if (row?.status === 'REJECTED') write(String(row.id), { rejectionReason: `reason ${edits}` });
    },
    remove(which) {
      const row = pick(which);
      if (row === undefined) return;
      gone.push(row);
      partner.remove(String(row.id));
      note(String(row.id), null);
    },
    bringBack(which) {
      const [row] = gone.splice(which % Math.max(1, gone.length), 1);
      if (row === undefined) return;
      partner.rows.unshift(row);
      note(String(row.id), stateOf(row));
    },
    lieIn(event, baselineFrom) {
      const known = facts.get(event.filingId) ?? [];
      const within = ({ at }: Fact) => event.notBefore <= at && at <= event.notAfter;
      const state = event.type === 'filing.removed' ? null : stateOf({ ...event });
      if (event.type === 'filing.created') {
        const appeared = known.filter(
          (fact, i) => fact.state !== null && (known[i - 1]?.state ?? null) === null,
        );
        if ((known[0]?.at ?? 0) < baselineFrom) return 'a phantom: it was there before the baseline';
        if (!appeared.some(within)) return `it appeared at ${times(appeared)}, outside of what was observed`;
        return known.some((fact) => fact.state === state && fact.at <= event.notAfter)
          ? null
          : 'it never was so';
      }
      const entered = known.filter((fact) => fact.state === state);
      if (entered.length === 0) return 'it never was so';
      return entered.some(within) ? null : `it became so at ${times(entered)}, outside of what was observed`;
    },
  };
}

function times(facts: readonly Fact[]): string {
  return facts.map(({ at }) => at).join();
}

function stateOf(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([row['status'], row['completedAt'] ?? null, row['rejectionReason'] ?? null]);
}
