import type { Redis } from 'ioredis';
import type { RedisClient } from './connection/connect.ts';

/** Some keys and the server that has them. */
export interface FoundKeys {
  readonly node: Redis;
  readonly keys: readonly string[];
}

/**
 * The keys that match a glob-style pattern, in batches, from every master. Keys that are made or removed
 * meanwhile may be missing or come twice.
 */
export async function* scanKeys(redis: RedisClient, pattern: string): AsyncGenerator<FoundKeys> {
  const nodes = 'nodes' in redis ? redis.nodes('master') : [redis];
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', 1000);
      if (keys.length > 0) yield { node, keys };
      cursor = next;
    } while (cursor !== '0');
  }
}

/** A text as a pattern that matches only itself. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, String.raw`\$&`);
}
