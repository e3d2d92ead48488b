import { setTimeout as delay } from 'node:timers/promises';
import { openApi, type ApiCaller } from '../api/api-caller.ts';
import type { Dwell, PartnerState } from '../journals/journals.ts';

/** Filings that a test moves through their lives, and the journal of it. */
export interface FilingLives {
  /** Puts a filing into a status, creating it where there is none; resolves when the service shows it. */
  move(account: string, filingId: string, status: string): Promise<void>;
  /** The service knows it no longer. */
  forget(account: string, filingId: string): Promise<void>;
  /** Makes a filing that is COMPLETED and stays so; it counts as no life. */
  complete(account: string, filingId: string): Promise<void>;
  /**
   * Moves random filings at random, so many a second, until the returned function is called; every 20th is
   * new, unless `births` is false.
   */
  run(perSecond: number, births?: boolean): () => Promise<void>;
  /** Each filing's states so far, in their order; those of before `begin` from -Infinity on. */
  dwells(): Dwell[];
  /** The baseline is taken: what comes now is a change. */
  begin(): void;
  /** When the last change showed. */
  lastChangeAt(): number;
}

interface Life {
  readonly account: string;
  readonly filingId: string;
  readonly dwells: Dwell[];
}

const statuses = ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED', 'PENDING', 'COMPLETED'];

/** Lives at the sandbox at `origin`; `ownerOf` is the partner service's name of an account. */
export function createFilingLives(
  origin: string,
  ownerOf: (account: string) => string,
  random: () => number,
): FilingLives {
  const control: ApiCaller = openApi(origin, null);
  const lives = new Map<string, Life>();
  let hasBegun = false;
  let lastChangeAt = 0;

  async function change(account: string, filingId: string, act: () => Promise<PartnerState>): Promise<void> {
    const key = `${account}/${filingId}`;
    const life = lives.get(key) ?? { account, filingId, dwells: [] };
    lives.set(key, life);
    const former = life.dwells.at(-1);
    if (former !== undefined) life.dwells[life.dwells.length - 1] = { ...former, until: Date.now() };
    const state = await act();
    lastChangeAt = Date.now();
    const from = hasBegun ? lastChangeAt : -Infinity;
    life.dwells.push({ account, filingId, state, from, until: Infinity });
  }

  function move(account: string, filingId: string, status: string): Promise<void> {
    return change(account, filingId, async () => {
      const owner = ownerOf(account);
      const filing = await control.ok<NonNullable<PartnerState>>('PUT', `/_sandbox/filings/${filingId}`, {
        status,
        owner,
      });
      const { completedAt, rejectionReason } = filing;
      return { status: filing.status, completedAt, rejectionReason };
    });
  }

  function forget(account: string, filingId: string): Promise<void> {
    return change(account, filingId, async () => {
      await control.ok('DELETE', `/_sandbox/filings/${filingId}`);
      return null;
    });
  }

  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

  async function moveOne(births: boolean): Promise<void> {
    const { account, filingId, dwells } = pick([...lives.values()]);
    const state = dwells.at(-1)?.state ?? null;
    if (state !== null && random() < 0.02) return forget(account, filingId);
    if (births && random() < 0.05) return move(account, `${account}-new-${lives.size}`, pick(statuses));
    return move(account, filingId, pick(statuses.filter((status) => status !== state?.status)));
  }

  return {
    move,
    forget,
    async complete(account, filingId) {
      const owner = ownerOf(account);
      await control.ok('PUT', `/_sandbox/filings/${filingId}`, { status: 'COMPLETED', owner });
    },
    run(perSecond, births = true) {
      let running = true;
      const since = performance.now();
      const done = (async () => {
        for (let moves = 1; running; moves += 1) {
          await moveOne(births);
          await delay(Math.max(0, since + (moves * 1000) / perSecond - performance.now()));
        }
      })();
      return () => {
        running = false;
        return done;
      };
    },
    dwells: () => [...lives.values()].flatMap((life) => life.dwells),
    begin() {
      hasBegun = true;
    },
    lastChangeAt: () => lastChangeAt,
  };
}
