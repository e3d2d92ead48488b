import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import {
  checkConvergence,
  findUnconverged,
  type Convergence,
} from '../../support/journals/check-convergence.ts';
import { writeEvidence } from '../../support/journals/expect-kept.ts';
import { accounts, startWorld, type World } from '../../support/world/world.ts';
import { answerUnevenly, type UnevenAnswers } from './uneven-answers.ts';
import type { FailoverGroup, FailoverWay } from './replication.ts';

/** How to run failovers. */
export interface FailoverRun {
  /** Ways to fail, in their order. */
  readonly ways: readonly FailoverWay[];
  /** Roles of each daemon. */
  readonly roles: readonly string[];
  /** Daemons killed at random moments of each failover, one after the other. */
  readonly kills: number;
  /** Changes of filings in a second, all the time. */
  readonly perSecond: number;
  readonly random: () => number;
}

const filings = 30;
const callbacksWhileLagging = 20;
const nextKillMsMax = 3_000;
// A few times the worlds' SWEEP_INTERVAL_MS.
const convergedMs = 10_000;
// Violations in the message of a failed test; the evidence has the rest.
const shownMax = 20;

/**
 * Fails a group over again and again under its daemons while filings change. After each failover the changes
 * pause until everything is at rest, and what each subscriber heard last of each filing has to become what
 * the partner service shows; at the end the whole journals are checked. Prints a line for each failover and
 * one for the run. With `kills`, daemons are killed in the midst of each failover. Fails on every broken promise, and leaves journals and logs in a folder that it names.
 */
export async function runFailovers(group: FailoverGroup, run: FailoverRun): Promise<Convergence> {
  const { random } = run;
  await using world = await startWorld({
    redisUrl: group.url,
    roles: run.roles,
    filings,
    random,
  });
  const answers = answerUnevenly(world.receiver, random);
  await group.untilWhole();
  const unconverged = new Set<string>();
  let undone = 0;
  for (const [i, { name, run: fail }] of run.ways.entries()) {
    const undoneBytes = await failOnce(world, run, answers, fail);
    const atRest = await world.settle();
    const found = (await untilConverged(world)).filter((text) => !unconverged.has(text));
    for (const text of found) unconverged.add(text);
    if (!atRest) unconverged.add(`rest: not at rest after failover ${i + 1}`);
    undone += undoneBytes;
    print({ failover: i + 1, name, undoneBytes, lost: countLost(found), atRest });
  }
  const findings = checkConvergence(world.journals());
  const violations = [...new Set([...unconverged, ...findings.violations])];
  const { events, callbacks, repeats } = findings;
  const lost = countLost([...unconverged]);
  print({
    failovers: run.ways.length,
    kills: run.kills * run.ways.length,
    undoneBytes: undone,
    events,
    callbacks,
    repeats,
    lost,
    ...countRules(violations),
  });
  expect(violations.slice(0, shownMax), violations.length === 0 ? '' : await writeEvidence(world)).toEqual(
    [],
  );
  return findings;
}

// While filings change: receivers hold answers, hear what is undone then, and have to hear more when the
// group is whole again.
async function failOnce(
  world: World,
  { perSecond, kills, random }: FailoverRun,
  answers: UnevenAnswers,
  fail: FailoverWay['run'],
): Promise<number> {
  const stop = world.lives.run(perSecond, false);
  try {
    const letGo = await answers.hold();
    const [undoneBytes] = await Promise.all([fail(() => untilHeard(world)), killSome(world, kills, random)]);
    letGo();
    await Promise.all(world.daemons.map((daemon) => daemon.untilStarted()));
    await untilHeard(world);
    return undoneBytes;
  } catch (error) {
    throw new Error(`${String(error)}; ${await writeEvidence(world)}`, { cause: error });
  } finally {
    await stop();
  }
}

async function killSome({ daemons }: World, kills: number, random: () => number): Promise<void> {
  for (let i = 0; i < kills; i += 1) {
    await delay(random() * nextKillMsMax);
    await daemons[Math.floor(random() * daemons.length)]?.kill();
  }
}

// What is still not so when sweeps have had time to notice it.
async function untilConverged(world: World): Promise<string[]> {
  const look = () => findUnconverged(world.journals());
  const converged = () => expect(look()).toEqual([]);
  await vi.waitFor(converged, { timeout: convergedMs, interval: 250 }).catch(() => undefined);
  return look();
}

async function untilHeard({ receiver: { callbacks } }: World): Promise<void> {
  const before = callbacks.length;
  const heard = (account: string) =>
    callbacks.slice(before).filter(({ subscription }) => subscription.startsWith(account)).length;
  await vi.waitUntil(() => accounts.every((account) => heard(account) >= callbacksWhileLagging), {
    timeout: 60_000,
    interval: 20,
  });
}

// Each subscriber's filing of which the last word is not so, whichever word was looked at.
function countLost(violations: readonly string[]): number {
  const words = violations.filter((text) => /^(greatest|last):/.test(text));
  return new Set(words.map((text) => text.slice(text.indexOf(':')))).size;
}

function countRules(violations: readonly string[]): Record<string, number> {
  const rules = Map.groupBy(violations, (text) => text.slice(0, text.indexOf(':')));
  return Object.fromEntries([...rules].map(([rule, texts]) => [rule, texts.length]));
}

function print(line: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
