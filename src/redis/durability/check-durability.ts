import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import type { RedisClient } from '../connection/connect.ts';

/** The facts of INFO about a server; null = it does not say. */
export type RedisFacts = {
  readonly version: string | null;
  readonly role: string | null;
  readonly maxmemoryPolicy: string | null;
  readonly aofEnabled: boolean | null;
};

const minimumMajorVersion = 7;

/**
 * Checks whether Redis (in a cluster: every master) keeps its data. `problems` is empty when it does; each
 * problem names the setting to change. `isReplica` means that a server accepts no writes at all. Uses INFO,
 * and CONFIG only for what INFO leaves out, since many hosted services forbid CONFIG. Rejects when Redis does
 * not answer.
 */
export async function checkDurability(
  redis: RedisClient,
): Promise<{ readonly problems: string[]; readonly isReplica: boolean }> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const facts = await Promise.all(nodes.map(askFacts));
  const problems = new Set(facts.flatMap(findProblems));
  return { problems: [...problems], isReplica: facts.some(({ role }) => findRoleProblem(role) !== null) };
}

/**
 * The problems in the facts of one server. An unknown fact is not a problem, except about eviction and the
 * append-only file.
 */
export function findProblems(facts: RedisFacts): string[] {
  return [
    findVersionProblem(facts.version),
    findRoleProblem(facts.role),
    findPolicyProblem(facts.maxmemoryPolicy),
    findAofProblem(facts.aofEnabled),
  ].filter((problem) => problem !== null);
}

function findVersionProblem(version: string | null): string | null {
  if (version === null || Number.parseInt(version, 10) >= minimumMajorVersion) return null;
  return `Redis ${version} is too old: ${minimumMajorVersion}.0 or newer is needed (or Valkey)`;
}

function findRoleProblem(role: string | null): string | null {
  if (role === null || role === 'master') return null;
  return `Redis is a replica and takes no writes: point REDIS_URL at the master, or use redis+sentinel://`;
}

function findPolicyProblem(policy: string | null): string | null {
  if (policy === 'noeviction') return null;
  const state =
    policy === null
      ? `Redis does not report its maxmemory-policy${unreported}`
      : `maxmemory-policy is ${policy}`;
  return `${state}: Redis may throw away subscriptions and events when memory is short; ${howToSet('maxmemory-policy noeviction')}`;
}

function findAofProblem(enabled: boolean | null): string | null {
  if (enabled === true) return null;
  const state =
    enabled === null
      ? `Redis does not report whether it keeps an append-only file${unreported}`
      : 'Redis keeps no append-only file';
  return `${state}: a restart may lose what it was given; ${howToSet('appendonly yes')}`;
}

const unreported = ' (INFO leaves it out and CONFIG GET is refused: allow its user +config|get)';

function howToSet(setting: string): string {
  return `set ${setting} (redis-server --${setting}, or redis-cli CONFIG SET ${setting} and CONFIG REWRITE; of a managed service in its own settings, see docs/managed-redis.md)`;
}

async function askFacts(node: Redis): Promise<RedisFacts> {
  const fields = parseInfo(await node.info());
  const aof = fields.get('aof_enabled') ?? (await askConfig(node, 'appendonly'));
  return {
    version: fields.get('redis_version') ?? null,
    role: fields.get('role') ?? null,
    maxmemoryPolicy: fields.get('maxmemory_policy') ?? (await askConfig(node, 'maxmemory-policy')),
    aofEnabled: aof === null ? null : aof === '1' || aof === 'yes',
  };
}

/** The fields of an INFO reply. */
export function parseInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

async function askConfig(node: Redis, name: string): Promise<string | null> {
  const reply: unknown = await node.config('GET', name).catch(() => null);
  const value: unknown = Array.isArray(reply) ? reply[1] : null;
  return typeof value === 'string' ? value : null;
}
