import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import { parseInfo } from './check-durability.ts';
import type { RedisClient } from '../connection/connect.ts';
import type { Keys } from '../keys.ts';
import { ownerOf } from '../connection/open-client.ts';

/** The facts of INFO about a server and its append-only file. */
export interface AofFacts {
  /** Another one after each start of the server. */
  readonly run: string;
  readonly role: string | null;
  readonly enabled: boolean;
  readonly loading: boolean;
  /** Bytes that were loaded at the start or written by the last rewrite. */
  readonly baseBytes: number;
  /** Rewrites begun since the start; null = it does not say. */
  readonly rewrites: number | null;
  readonly underWay: boolean;
  readonly lastFailed: boolean;
}

/**
 * Whether a server's append-only file needs a rewrite. `needless`: it was not loaded, or the server is no
 * master.
 */
export type AofVerdict = 'needless' | 'wanted' | 'under_way' | 'failed' | 'done';

/** Rewrites the append-only files that Redis has loaded at its start. */
export type AofRewriter = ReturnType<typeof createAofRewriter>;

export interface AofRewriterDeps {
  readonly redis: RedisClient;
  readonly keys: Pick<Keys, 'aofMark'>;
  /** Called once per run of a server, by the process that asked. */
  readonly onRewritten: (server: string) => void;
  /** Called once per run of a server that refuses to rewrite, or fails. */
  readonly onNotRewritten: (server: string, reason: string) => void;
  /**
   * Called when a server is seen in a run in which it was not seen before, at the first look too. Called
   * again with a later look after it rejected.
   */
  readonly onRun: () => Promise<void>;
  /** Receives what `onRun` rejected with. */
  readonly onError: (error: Error) => void;
  /** Called after each look with the number of servers whose file is still the one that they have loaded. */
  readonly onLook: (missing: number) => void;
  /** Milliseconds of any clock that only goes forward. */
  readonly now: () => number;
}

// Milliseconds until a refused or failed rewrite is requested again.
const restMs = 300_000;
const markMs = 60_000;
// Maximum number of keys that are tried, enough to find one on each of some hundred masters.
const marksMax = 10_000;

/**
 * Redis and Valkey load a file that was cut within a transaction up to the last whole command, forget the
 * transaction, and leave its first commands in the file with its MULTI: at the next start they are carried
 * out, in the midst of what was written since. A rewrite drops them. INFO does not say whether a file was
 * cut, so each start is followed by one rewrite, whichever process asks for it.
 */
export function createAofRewriter(deps: AofRewriterDeps) {
  const { redis, onRewritten, onNotRewritten, onRun, onLook, now } = deps;
  const seen = new Set<string>();
  const asked = new Map<string, { readonly at: number; isReported: boolean }>();

  async function ask(node: Redis, run: string): Promise<void> {
    const former = asked.get(run);
    if (former !== undefined && now() - former.at < restMs) return;
    const entry = { at: now(), isReported: former?.isReported ?? false };
    asked.set(run, entry);
    try {
      await closeTransaction(node);
      await node.bgrewriteaof();
    } catch (error) {
      if (/already in progress/.test(String(error))) return;
      if (!isRefusal(error)) {
        asked.delete(run);
        throw error;
      }
      report(node, entry, error.message);
    }
  }

  function report(node: Redis, entry: { isReported: boolean }, reason: string | null): void {
    if (entry.isReported) return;
    entry.isReported = true;
    if (reason === null) onRewritten(nameOf(node));
    else onNotRewritten(nameOf(node), reason);
  }

  // While a file has an open transaction and ends there, a server that is killed during its rewrite does not
  // start any more: a cut that is not at the very end of the last file is fatal. A transaction of ours ends
  // the open one.
  async function closeTransaction(node: Redis): Promise<void> {
    const mark = markOf(node);
    if (mark !== null) await node.multi().set(mark, '', 'PX', markMs).set(mark, '', 'PX', markMs).exec();
  }

  // Null on a master without slots: no client writes there.
  function markOf(node: Redis): string | null {
    if (!(redis instanceof Cluster)) return deps.keys.aofMark(0);
    for (let i = 0; i < marksMax; i += 1)
      if (ownerOf(redis, deps.keys.aofMark(i)) === node) return deps.keys.aofMark(i);
    return null;
  }

  function take(run: string): void {
    seen.add(run);
    onRun().catch((error: unknown) => {
      seen.delete(run);
      deps.onError(error as Error);
    });
  }

  async function lookAt(node: Redis): Promise<boolean> {
    const facts = toFacts(await node.info());
    const verdict = judgeAof(facts);
    if (!facts.loading && !seen.has(facts.run)) take(facts.run);
    const entry = asked.get(facts.run);
    if (verdict === 'failed' && entry !== undefined) report(node, entry, 'the rewrite failed');
    if (verdict === 'done' && entry !== undefined) report(node, entry, null);
    if (verdict === 'wanted' || verdict === 'failed') await ask(node, facts.run);
    return verdict !== 'needless' && verdict !== 'done';
  }

  return {
    /** Checks every master and requests the missing rewrites. Rejects when Redis does. */
    async look(): Promise<void> {
      const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
      const missing = await Promise.all(nodes.map(lookAt));
      onLook(missing.filter(Boolean).length);
    },
  };
}

/** Judges a server by its facts. */
export function judgeAof(facts: AofFacts): AofVerdict {
  const { role, enabled, loading, baseBytes, rewrites, underWay, lastFailed } = facts;
  if (!enabled || role !== 'master' || loading || rewrites === null) return 'needless';
  if (underWay) return 'under_way';
  if (rewrites === 0) return baseBytes === 0 ? 'needless' : 'wanted';
  return lastFailed ? 'failed' : 'done';
}

function toFacts(info: string): AofFacts {
  const fields = parseInfo(info);
  const isOn = (name: string) => (fields.get(name) ?? '0') !== '0';
  const rewrites = fields.get('aof_rewrites');
  return {
    run: fields.get('run_id') ?? '',
    role: fields.get('role') ?? null,
    enabled: isOn('aof_enabled'),
    loading: isOn('loading'),
    baseBytes: Number(fields.get('aof_base_size') ?? 0),
    rewrites: rewrites === undefined ? null : Number(rewrites),
    underWay: isOn('aof_rewrite_in_progress') || isOn('aof_rewrite_scheduled'),
    lastFailed: fields.get('aof_last_bgrewrite_status') === 'err',
  };
}

function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError' && !error.message.startsWith('LOADING');
}

function nameOf({ options }: Redis): string {
  return options.path ?? `${options.host}:${options.port}`;
}
