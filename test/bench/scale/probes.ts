import type { Row } from './results.ts';
import { eachOf, longest, spentOn, type Spent } from './spent.ts';
import { authorized, type Stage, type StageDaemon } from './stage.ts';

const askedTimes = 10;

/**
 * Processor time of a page of the API, asked for ten times after a first one that does not count, and the
 * longest command; in figures whose names begin with this one. Asked for once, the first one counts. What is
 * spent without any request (`idle`) is taken off.
 */
export async function spentOnPage(
  stage: Stage,
  daemon: StageDaemon,
  name: string,
  path: string,
  { asked = askedTimes, idle = null }: { readonly asked?: number; readonly idle?: Spent | null } = {},
): Promise<Row> {
  const ask = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      // One after the other, as an operator asks.
      // oxlint-disable no-await-in-loop
      const answer = await fetch(daemon.url + path, authorized);
      const text = await answer.text();
      // oxlint-enable no-await-in-loop
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
    }
  };
  if (asked > 1) await ask(1);
  const spent = await spentOn(stage, daemon, () => ask(asked));
  const { daemonMs, redisMs } = eachOf(asked, spent, idle);
  return {
    [`${name}: daemon ms`]: daemonMs,
    [`${name}: Redis ms`]: redisMs,
    ...longest(name, spent),
  };
}
