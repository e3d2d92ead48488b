import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RedisClient } from './connection/open-client.ts';
import { untilReplicated } from './connection/wait-replicas.ts';

/** An argument of a script; numbers are sent in decimal, Buffers byte for byte. */
type ScriptArgument = string | number | Buffer;

type Run = (redis: RedisClient, keys: readonly string[], args: readonly ScriptArgument[]) => Promise<unknown>;

/**
 * One Lua script. It runs atomically; in a Redis Cluster all `keys` must share a hash slot. The caller parses
 * the reply: its type is not known here.
 */
export type RedisScript = ReturnType<typeof defineScript>;

/** A script from its text. */
export function defineScript(lua: string) {
  const sha = createHash('sha1').update(lua).digest('hex');
  const runWith =
    (method: 'call' | 'callBuffer'): Run =>
    async (redis, keys, args) => {
      const rest = [keys.length, ...keys, ...args];
      try {
        return await redis[method]('EVALSHA', [sha, ...rest]);
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return await redis[method]('EVAL', [lua, ...rest]);
      }
    };
  return {
    /**
     * Sends the script's hash, and its text only to a Redis that does not know it yet. Bulk strings of the
     * reply arrive as strings.
     */
    run: runWith('call'),
    /** The same, with the bulk strings of the reply as Buffers, for values that are not text. */
    runBuffer: runWith('callBuffer'),
  };
}

/**
 * The same script as a commit: if the deployment requires it, the call resolves when enough replicas have its
 * writes.
 */
export function committing({ run, runBuffer }: RedisScript): RedisScript {
  const andWait =
    (first: Run): Run =>
    async (redis, keys, args) => {
      const reply = await first(redis, keys, args);
      await untilReplicated(redis, keys[0] ?? '');
      return reply;
    };
  return { run: andWait(run), runBuffer: andWait(runBuffer) };
}

/**
 * A script from a `.lua` file, read once, now: `loadScript(new URL('./commit-changes.lua',
 * import.meta.url))`. A line `-- @include FILE` stands for that file, named from the folder of the script.
 * Throws when one is missing.
 */
export function loadScript(file: URL): RedisScript {
  return defineScript(readScript(file));
}

function readScript(file: URL): string {
  const include = (_: string, name: string) => readScript(new URL(name, file));
  return readFileSync(file, 'utf8').replaceAll(/^-- @include (\S+)$/gm, include);
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
