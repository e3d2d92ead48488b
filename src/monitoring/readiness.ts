import { checkDurability } from '../redis/durability/check-durability.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';
import type { StoreWatch } from '../redis/durability/store-watch.ts';

/** Whether the daemon can keep its promise right now, and if not, why and what to do. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

const probeKeptMs = 60_000;

/**
 * Asks Redis: whether it is still the one that this daemon began on, whether it keeps what it is given, and
 * whether it takes a write (of `probeKey`, with a lifetime of a minute). Whoever asks meanwhile has the same
 * answer: probes need no token, and must not become a load. `otherProblems` says what else is wrong, of the
 * secrets and of the work; `readAccounts` rejects when the accounts as a whole cannot be read.
 */
export function createReadiness(
  redis: RedisClient,
  watch: StoreWatch,
  probeKey: string,
  otherProblems: () => readonly (string | null)[] = () => [],
  readAccounts: () => Promise<unknown> = () => Promise.resolve(),
): () => Promise<Readiness> {
  let underWay: Promise<Readiness> | null = null;

  async function ask(): Promise<Readiness> {
    const reasons: string[] = [];
    try {
      const [{ problems, isReplica }] = await Promise.all([
        checkDurability(redis),
        watch.check(),
        readAccounts(),
      ]);
      reasons.push(...problems);
      // A replica has told what it refuses, and would be left for another connection.
      if (!isReplica) await redis.set(probeKey, '', 'PX', probeKeptMs);
    } catch (error) {
      reasons.push(describe(error));
    }
    for (const problem of [watch.problem(), ...otherProblems()]) if (problem !== null) reasons.push(problem);
    return { ready: reasons.length === 0, reasons };
  }

  return () => (underWay ??= ask().finally(() => (underWay = null)));
}

function describe(error: unknown): string {
  const unreadable = toUnreadable(error);
  if (unreadable !== null) return `In the store ${unreadable.message}: restore it from a backup.`;
  if (error instanceof Error && error.name === 'ReplyError')
    return `Redis refuses to write: ${error.message}`;
  return 'Redis does not answer: check that it runs and that REDIS_URL is right.';
}
