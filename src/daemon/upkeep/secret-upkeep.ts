import type { Logger } from 'pino';
import { eachName } from '../../accounts/lists/account-slices.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import { resealOld, tallySecrets } from '../../secrets/stored-secrets.ts';
import type { SealedRecord, SealTally } from '../../secrets/stored-secrets.ts';
import type { EncryptionKey, Sealer } from '../../secrets/seal.ts';
import type { SealMarkStore } from './seal-mark.ts';

/** A key of ENCRYPTION_KEY opens no secret sealed under its id, so it is not the former key of that id. */
export class WrongKeyError extends Error {
  override readonly name = 'WrongKeyError';
}

/**
 * Checks that the sealed secrets of the store open, and seals them with the newest key, bound to their place.
 */
interface SecretUpkeep {
  /**
   * To be called once, before anything is sealed. Writes at most the mark of the seals. Throws WrongKeyError.
   */
  begin(): Promise<void>;
  /**
   * Seals anew the secrets that an older key or an older version sealed, counts again, and logs changes. With
   * a single key, all seals bound and no problem it counts again only: at most 0.5 % of the time.
   */
  pass(): Promise<void>;
  /** Why some sealed secrets cannot be used, null if all can. Names no account. */
  problem(): string | null;
}

const passEveryMs = 60_000;
// Minimum milliseconds between two counts for each millisecond that a count took.
const countShare = 200;

export interface SecretUpkeepDeps {
  readonly accounts: Pick<AccountStore, 'slice' | 'sealedRecords'>;
  readonly sealedSubscriptions: (accounts: AsyncIterable<string>) => AsyncIterable<SealedRecord>;
  readonly sealer: Sealer;
  readonly seals: SealMarkStore;
  /** Newest first. */
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'sealedSecrets' | 'sealingKey' | 'unboundSecrets'>;
}

/**
 * Checks the keys, then runs a pass every minute until it is disposed of. Throws WrongKeyError before
 * anything is written.
 */
export async function startSecretUpkeep(
  deps: SecretUpkeepDeps,
  onError: (error: Error) => void,
): Promise<Pick<SecretUpkeep, 'problem'> & Disposable> {
  const upkeep = createSecretUpkeep(deps);
  await upkeep.begin();
  const pass = () => void upkeep.pass().catch(onError);
  const timer = setInterval(pass, passEveryMs);
  pass();
  return { problem: upkeep.problem, [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Upkeep of the secrets of all accounts. Several processes may run it at once: one of them seals each record
 * again.
 */
function createSecretUpkeep(deps: SecretUpkeepDeps): SecretUpkeep {
  const { accounts, sealedSubscriptions, sealer, seals, encryptionKeys, logger, metrics } = deps;
  const ids = encryptionKeys.map(({ id }) => id);
  const [newest, ...older] = ids;
  const toldFree = new Set<string>();
  let problem: string | null = null;
  let countAgainAt = 0;

  // Nothing holds all of them at once.
  async function* readRecords(): AsyncGenerator<SealedRecord> {
    yield* accounts.sealedRecords();
    yield* sealedSubscriptions(eachName(accounts.slice));
  }

  async function count(): Promise<SealTally> {
    const startedAt = performance.now();
    const tally = await tallySecrets(sealer, readRecords());
    countAgainAt = performance.now() + (performance.now() - startedAt) * countShare;
    metrics.sealedSecrets.reset();
    metrics.sealingKey.reset();
    if (newest !== undefined) metrics.sealingKey.set({ key: newest }, 1);
    for (const key of new Set([...ids, ...tally.unreadable.keys(), ...tally.refused.keys()])) {
      metrics.sealedSecrets.set({ key }, total(tally, key));
    }
    metrics.unboundSecrets.set(tally.kinds.former);
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
    problem: () => problem,
    async begin() {
      await seals.look();
      const tally = await count();
      const wrong = ids.find((id) => tally.unreadable.has(id) && !tally.readable.has(id));
      if (wrong !== undefined) throw new WrongKeyError(wrongKeySentence(wrong));
      const mark = await seals.settle(tally.kinds);
      if (mark === 'bound') return;
      const { former } = tally.kinds;
      logger.info({ secrets: former, from: new Date(mark).toISOString() }, 'secrets.unbound');
    },
    async pass() {
      await seals.look();
      if (older.length === 0 && problem === null && seals.stage() === 'bound') {
        if (performance.now() >= countAgainAt) await count();
        return;
      }
      const records = await resealOld(sealer, readRecords());
      if (records > 0) logger.info({ records, key: newest }, 'secrets.resealed');
      const tally = await count();
      tellFree(tally);
      if (await seals.conclude(tally.kinds)) logger.info('secrets.bound');
    },
  };
}

function total({ readable, unreadable, refused }: SealTally, key: string): number {
  return sumOf([readable, unreadable, refused].map((counts) => counts.get(key) ?? 0));
}

function sumOf(counts: Iterable<number>): number {
  return [...counts].reduce((sum, each) => sum + each, 0);
}

function unreadableProblem({ unreadable, refused }: SealTally): string | null {
  const sentences: string[] = [];
  if (unreadable.size > 0) {
    const named = [...unreadable.keys()].map((key) => `"${key}"`).join(', ');
    sentences.push(
      `Stored secrets that do not open with ENCRYPTION_KEY: ${sumOf(unreadable.values())}, sealed with key ${named}. ` +
        'Add the former key behind the newest one, or set those secrets anew; the log line secrets.unreadable names whose they are.',
    );
  }
  if (refused.size > 0) {
    sentences.push(
      `Stored secrets that an older version sealed, or that were moved: ${sumOf(refused.values())}. Set them anew; the log line ` +
        'secrets.unreadable names whose they are, and docs/operations.md#seals says more.',
    );
  }
  return sentences.length === 0 ? null : sentences.join(' ');
}

function wrongKeySentence(id: string): string {
  return (
    `ENCRYPTION_KEY: the key "${id}" opens nothing of what was sealed under that name, so it is another one than before. Put the former key ` +
    `back, as in ENCRYPTION_KEY=new:…,${id}:…; if it is lost, give the new key a name of its own and set all secrets anew.`
  );
}
