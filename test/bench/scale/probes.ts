import { setTimeout as sleep } from 'node:timers/promises';
import { eventType, fillLog } from '../support/delivery-rig.ts';
import { median, percentile } from '../support/statistics.ts';
import { authorized, type Stage, type StageDaemon } from './stage.ts';

const times = 5;
const events = 20;
const betweenMs = 100;

/** Milliseconds until a page of the API is there, and its bytes; the middle of five. */
export async function timePage(daemon: StageDaemon, path: string): Promise<{ ms: number; text: string }> {
  const took: number[] = [];
  let text = '';
  for (let i = 0; i < times; i += 1) {
    const startedAt = performance.now();
    // One after the other, as an operator asks.
    const answer = await fetch(daemon.url + path, authorized);
    text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
    took.push(performance.now() - startedAt);
  }
  return { ms: median(took), text };
}

/** Milliseconds of `/metrics`, and its series. */
export async function timeMetrics(daemon: StageDaemon): Promise<{ metricsMs: number; series: number }> {
  const { ms, text } = await timePage(daemon, '/metrics');
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  return { metricsMs: ms, series };
}

/**
 * Milliseconds from the moment before an event is appended, through waking, to the head of its callback; for
 * some events of an account, one after the other. A subscription has to match.
 */
export async function latency(stage: Stage, account: string): Promise<{ p50: number; p99: number }> {
  const { redis, keys, waker } = stage.parts;
  await stage.receiver.arrivals();
  const took: number[] = [];
  for (let i = 0; i < events; i += 1) {
    const at = performance.timeOrigin + performance.now();
    // oxlint-disable no-await-in-loop
    const [filled] = await fillLog(redis, keys.account(account), account, 1);
    await waker.wakeMatching(account, [{ type: eventType, state: 'TX', status: '' }]);
    const arrived = await arrivalOf(stage, filled?.id ?? '');
    // oxlint-enable no-await-in-loop
    took.push(arrived - at);
  }
  return { p50: median(took), p99: percentile(took, 0.99) };
}

async function arrivalOf({ receiver }: Stage, id: string): Promise<number> {
  for (;;) {
    // oxlint-disable no-await-in-loop
    const found = (await receiver.arrivals()).find((arrival) => arrival.id === id);
    if (found !== undefined) return found.at;
    await sleep(betweenMs / 10);
    // oxlint-enable no-await-in-loop
  }
}
