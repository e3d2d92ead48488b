import type { NewEvent } from '../../events/event.ts';
import { withoutPageLinks, type AddPageLink } from '../../events/page-link.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, defineScript, loadScript } from '../../redis/scripts.ts';
import { encodeDoubt, type StandingDoubt } from '../beliefs/doubt.ts';
import type { PollingMarks } from './marks.ts';

/** The marks that operational events report. They are written together with the events. */
export type ReportedFlags = Pick<PollingMarks, 'authFailed' | 'staleReported' | 'doubt'>;

/** An operational event to be appended, and the marks that it leaves. */
export interface HealthNotice {
  readonly event: NewEvent;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
  /** The flags on which the decision rests, and their new values. */
  readonly before: ReportedFlags;
  readonly after: ReportedFlags;
}

/** The reported health of an account, kept in its marks. */
export type HealthStore = ReturnType<typeof createHealthStore>;

// KEYS 1 the marks. ARGV the doubt before, the doubt after, the identity that is the account's own from then
// on or ''. Replies 1 when the doubt was the one before.
const acceptDoubt = defineScript(`
if redis.call('HGET', KEYS[1], 'doubt') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'doubt', ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'identity', ARGV[3]) end
return 1`);

const appendScript = committing(loadScript(new URL('append-health-event.lua', import.meta.url)));

/** Health in Redis. */
export function createHealthStore(
  redis: RedisClient,
  keys: Keys,
  addPageLink: AddPageLink = withoutPageLinks,
) {
  return {
    /**
     * Appends an operational event and writes its flags in one step. Returns the event's position in the log;
     * null, with nothing written, when the flags are no longer those in `before` (another process has
     * appended it) or the generation is another.
     */
    async appendEvent(
      account: string,
      generation: string,
      { event, at, before, after }: HealthNotice,
    ): Promise<number | null> {
      const { head, events, bodies, polling } = keys.account(account);
      const flags = [before, after].flatMap(({ authFailed, staleReported, doubt }) => [
        authFailed,
        staleReported,
        doubt,
      ]);
      const position = await appendScript.run(
        redis,
        [head, events, bodies, polling],
        [generation, ...flags.map(String), at, event.id, event.type, addPageLink(account, event).body],
      );
      return typeof position === 'number' && position > 0 ? position : null;
    },
    /**
     * Accepts a doubt as it stands in the marks. If another account is the reason, its identity is the
     * account's own from then on. False, with nothing written, when the doubt in the marks is another one.
     */
    async accept(account: string, doubt: StandingDoubt): Promise<boolean> {
      const accepted = encodeDoubt({ ...doubt, accepted: true });
      const values = [encodeDoubt(doubt), accepted, doubt.identity];
      return (await acceptDoubt.run(redis, [keys.account(account).polling], values)) === 1;
    },
  };
}
