import type { NewEvent } from '../../events/event.ts';
import { withoutPageLinks, type AddPageLink } from '../../events/page-link.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, loadScript } from '../../redis/scripts.ts';

/** The digests of an account, whose last date is kept in its marks. */
export interface DigestStore {
  /**
   * Appends the digest of a local date and notes the date, in one step; `at` is milliseconds on Redis's
   * clock. False, with nothing written, when that date or a later one has its digest, or the generation is
   * another.
   */
  appendDigest(
    account: string,
    generation: string,
    digest: { readonly event: NewEvent; readonly date: string; readonly at: number },
  ): Promise<boolean>;
}

const appendScript = committing(loadScript(new URL('append-digest.lua', import.meta.url)));

/** Digests in Redis. */
export function createDigestStore(
  redis: RedisClient,
  keys: Keys,
  addPageLink: AddPageLink = withoutPageLinks,
): DigestStore {
  return {
    async appendDigest(account, generation, { event, date, at }) {
      const { head, events, bodies, polling } = keys.account(account);
      const values = [generation, date, at, event.id, event.type, addPageLink(account, event).body];
      const position = await appendScript.run(redis, [head, events, bodies, polling], values);
      return typeof position === 'number' && position > 0;
    },
  };
}
