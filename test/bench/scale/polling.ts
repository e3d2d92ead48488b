import { setTimeout as sleep } from 'node:timers/promises';
import { startPartnerProcess } from '../support/partner-process.ts';
import { addAccounts, untilBaselined } from './prepare.ts';
import { record, sizesOf } from './results.ts';
import { cpuOf, startStage, type StageDaemon } from './stage.ts';

const accounts = 250;
const filings = 10;
const pollIntervalMs = 5_000;
const seconds = 10;

/**
 * Two hundred and fifty accounts of ten filings polled by 1, 2 and 4 processes; milliseconds of processor
 * time a poll.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('everysec');
  await using partner = await startPartnerProcess(filings, filings);
  await addAccounts(stage, { from: 0, to: accounts, baseUrl: partner.baseUrl, pollIntervalMs });
  for (const processes of sizesOf([1, 2, 4])) {
    await using stack = new AsyncDisposableStack();
    const daemons: StageDaemon[] = [];
    // oxlint-disable no-await-in-loop
    for (let i = 0; i < processes; i += 1)
      daemons.push(stack.use(await stage.startDaemon({ ROLES: 'poll' })));
    await untilBaselined(stage, accounts);
    await sleep(pollIntervalMs);
    const polls = () =>
      Promise.all(daemons.map((each) => each.metric('filing_webhooks_poll_duration_seconds_count')));
    const before = await polls();
    const pids = {
      partner: partner.pid,
      redis: stage.redis.pid,
      ...Object.fromEntries(daemons.map(({ pid }, i) => [`daemon${i}`, pid])),
    };
    const used: Record<string, number> = await cpuOf(pids, () => sleep(seconds * 1_000));
    const own = (await polls()).map((count, i) => count - (before[i] ?? 0));
    // oxlint-enable no-await-in-loop
    const all = own.reduce((sum, count) => sum + count, 0);
    const daemonSeconds = daemons.reduce((sum, _, i) => sum + (used[`daemon${i}`] ?? 0), 0);
    await record('polling', {
      processes,
      'polls/s': all / seconds,
      'daemon ms': (daemonSeconds * 1_000) / all,
      'Redis ms': ((used['redis'] ?? 0) * 1_000) / all,
      'partner ms': ((used['partner'] ?? 0) * 1_000) / all,
      'least share %': (100 * Math.min(...own)) / all,
      'most share %': (100 * Math.max(...own)) / all,
    });
  }
}
