import type { Logger } from 'pino';
import type { Metrics } from '../../monitoring/metrics.ts';
import { resealOld, tallySecrets } from '../../secrets/stored-secrets.ts';
import type { SealedRecord, SealTally } from '../../secrets/stored-secrets.ts';
import type { EncryptionKey, Sealer } from '../../secrets/seal.ts';

/** A key of ENCRYPTION_KEY opens no secret sealed under its id, so it is not the former key of that id. */
export class WrongKeyError extends Error {
  override readonly name = 'WrongKeyError';
}

// Minimum milliseconds between two counts for each millisecond that a count took.
const countShare = 200;

export interface SecretUpkeepDeps {
  /** Reads all sealed records, some at a time: nothing holds all of them at once. */
  readonly sealedRecords: () => AsyncIterable<SealedRecord>;
  readonly sealer: Sealer;
  /** Newest first. */
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'sealedSecrets' | 'sealingKey'>;
}

/**
 * Checks that the sealed secrets of all accounts open, and seals them with the newest key. Several processes
 * may run it at once: one of them seals each record again.
 */
export function createSecretUpkeep(deps: SecretUpkeepDeps) {
  const { sealedRecords, sealer, encryptionKeys, logger, metrics } = deps;
  const ids = encryptionKeys.map(({ id }) => id);
  const [newest, ...older] = ids;
  const toldFree = new Set<string>();
  let problem: string | null = null;
  let countAgainAt = 0;

  async function count(): Promise<SealTally> {
    const startedAt = performance.now();
    const tally = await tallySecrets(sealer, sealedRecords());
    countAgainAt = performance.now() + (performance.now() - startedAt) * countShare;
    metrics.sealedSecrets.reset();
    metrics.sealingKey.reset();
    if (newest !== undefined) metrics.sealingKey.set({ key: newest }, 1);
    for (const key of new Set([...ids, ...tally.unreadable.keys()])) {
      metrics.sealedSecrets.set({ key }, total(tally, key));
    }
    const before = problem;
    problem = unreadableProblem(tally);
    if (problem !== null && problem !== before) {
      logger.error({ problem, whose: tally.unreadableOwners.slice(0, 100) }, 'secrets.unreadable');
    }
    return tally;
  }

  function tellFree(tally: SealTally): void {
    for (const key of older) {
      if (total(tally, key) > 0) toldFree.delete(key);
      else if (!toldFree.has(key)) {
        toldFree.add(key);
        logger.info({ key }, 'secrets.key_free');
      }
    }
  }

  return {
    /** Why some sealed secrets cannot be used, null if all can. Names no account. */
    problem: () => problem,
    /** To be called once, before anything is sealed. Writes nothing. Throws WrongKeyError. */
    async begin(): Promise<void> {
      const tally = await count();
      const wrong = ids.find((id) => tally.unreadable.has(id) && !tally.readable.has(id));
      if (wrong !== undefined) throw new WrongKeyError(wrongKeySentence(wrong));
    },
    /**
     * Seals again the secrets that an older key sealed, counts them, and logs changes; to be called every
     * minute. With a single key and no problem it only counts, for at most 0.5 % of the time.
     */
    async pass(): Promise<void> {
      if (older.length === 0 && problem === null) {
        if (performance.now() >= countAgainAt) await count();
        return;
      }
      const records = await resealOld(sealer, sealedRecords());
      if (records > 0) logger.info({ records, key: newest }, 'secrets.resealed');
      tellFree(await count());
    },
  };
}

function total({ readable, unreadable }: SealTally, key: string): number {
  return (readable.get(key) ?? 0) + (unreadable.get(key) ?? 0);
}

function unreadableProblem({ unreadable }: SealTally): string | null {
  if (unreadable.size === 0) return null;
  const named = [...unreadable.keys()].map((key) => `"${key}"`).join(', ');
  const count = [...unreadable.values()].reduce((sum, each) => sum + each, 0);
  return (
    `Stored secrets that do not open with ENCRYPTION_KEY: ${count}, sealed with key ${named}. ` +
    'Add the former key behind the newest one, or set those secrets anew; the log line secrets.unreadable names whose they are.'
  );
}

function wrongKeySentence(id: string): string {
  return (
    `ENCRYPTION_KEY: the key "${id}" opens nothing of what was sealed under that name, so it is another one than before. Put the former key ` +
    `back, as in ENCRYPTION_KEY=new:…,${id}:…; if it is lost, give the new key a name of its own and set all secrets anew.`
  );
}
