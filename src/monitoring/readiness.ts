import { onceForAll } from '../memory/shared-work.ts';
import { checkDurability } from '../redis/durability/check-durability.ts';
import { checkPermissions } from '../redis/durability/check-permissions.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import { explainLost } from '../redis/connection/missing-redis.ts';
import type { Keys } from '../redis/keys.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';
import type { StoreWatch } from '../redis/durability/store-watch.ts';

/** Whether the daemon can keep its promise now; if not, why and what to do. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

const probeKeptMs = 60_000;

export interface ReadinessDeps {
  readonly redis: RedisClient;
  readonly watch: StoreWatch;
  readonly keys: Keys;
  /** Problems of secrets and of work. */
  readonly otherProblems?: () => readonly (string | null)[];
  /** Whether the operator has accepted a Redis that may lose or evict data: this is then named only. */
  readonly acceptsUnsafe?: boolean;
  /** Problems of others, which are named but make the daemon not unready. */
  readonly notes?: () => readonly (string | null)[];
  /** Why the connections to Redis are lost, as far as it is known. */
  readonly whyAway?: () => string | null;
  /** Rejects when the accounts as a whole cannot be read. */
  readonly readAccounts?: () => Promise<unknown>;
}

/**
 * Checks that Redis holds the same store as at the start, that its data is durable, that it allows the
 * daemon's user all that the work needs, and that it takes a write (of `keys.probe`, with a lifetime of a
 * minute). Simultaneous callers share one check: probes need no token and must not become a load.
 */
export function createReadiness({
  redis,
  watch,
  keys,
  otherProblems = () => [],
  acceptsUnsafe = false,
  notes = () => [],
  whyAway = () => null,
  readAccounts = () => Promise.resolve(),
}: ReadinessDeps): () => Promise<Readiness> {
  async function ask(): Promise<Readiness> {
    const reasons: string[] = [];
    const accepted: string[] = [];
    try {
      const forbidden = await checkPermissions(redis, keys);
      if (forbidden !== null) return { ready: false, reasons: [forbidden] };
      const [{ problems, isReplica }] = await Promise.all([
        checkDurability(redis),
        watch.check(),
        readAccounts(),
      ]);
      (acceptsUnsafe && !isReplica ? accepted : reasons).push(...problems);
      // A replica is a problem already, and its refusal of a write would end the connection.
      if (!isReplica) await redis.set(keys.probe, '', 'PX', probeKeptMs);
    } catch (error) {
      reasons.push(describe(error, whyAway()));
    }
    for (const problem of [watch.problem(), ...otherProblems()]) if (problem !== null) reasons.push(problem);
    const noted = notes().filter((note) => note !== null);
    return { ready: reasons.length === 0, reasons: [...reasons, ...accepted, ...noted] };
  }

  return onceForAll(ask, 0);
}

function describe(error: unknown, away: string | null): string {
  const unreadable = toUnreadable(error);
  if (unreadable !== null) return `In the store ${unreadable.message}: restore it from a backup.`;
  if (!(error instanceof Error) || error.name !== 'ReplyError') return explainLost(away);
  const isFull = /No space left|Disk quota/.test(error.message);
  const advice = isFull ? '. Make room on its disk; work then goes on by itself.' : '';
  return `Redis refuses to write: ${error.message}${advice}`;
}
