import { describe, expect, it } from 'vitest';
import {
  createFairShare,
  evenShareOf,
  fairShareOf,
  type DrainsOfAll,
} from '../../../src/delivery/fair-share.ts';
import { createRandom } from '../../../src/sandbox/random.ts';

describe('fairShareOf', () => {
  it.each([
    [20, 0, Infinity],
    [20, 1, Infinity],
    [20, 2, 12],
    [2, 2, 1],
    [3, 2, 2],
    [8, 4, 2],
    [9, 4, 3],
    [1, 2, 1],
    [0, 4, 0],
  ])('of %i drains in %i processes is %d', (underWay, processes, share) => {
    expect(fairShareOf({ underWay, processes })).toBe(share);
  });
});

describe('evenShareOf', () => {
  it.each([
    [9, 4],
    [8, 4],
    [3, 2],
    [203, 10],
  ])('of %i drains in %i processes adds up to them, and differs by one at most', (underWay, processes) => {
    const shares = Array.from({ length: processes }, (_, before) =>
      evenShareOf({ underWay, processes, before }),
    );
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(underWay);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThan(2);
  });

  it('keeps a single drain where it is', () => {
    expect(evenShareOf({ underWay: 1, processes: 4, before: 3 })).toBe(1);
  });

  it('is the fair share where the order of processes is not known', () => {
    expect(evenShareOf({ underWay: 9, processes: 4, before: null })).toBe(3);
    expect(evenShareOf({ underWay: 9, processes: 1, before: 0 })).toBe(Infinity);
  });
});

describe('createFairShare', () => {
  function shareOf(running: number, look: () => Promise<DrainsOfAll>) {
    return createFairShare({ running: () => running, look, now: () => 0 });
  }

  /** Drains that never end, in processes that look at each other once a second. */
  function createProcesses(began: readonly number[]) {
    let now = 0;
    const random = createRandom(1);
    const running = [...began];
    const underWay = began.reduce((sum, count) => sum + count, 0);
    const shares = running.map((_, before) =>
      createFairShare({
        running: () => running[before] ?? 0,
        look: async () => ({ underWay, processes: running.length, before }),
        now: () => now,
      }),
    );
    /** One second; returns the number of drains that were handed over. */
    async function goOn(): Promise<number> {
      now += 1_000;
      const left: number[] = [];
      for (const [i, share] of shares.entries())
        for (let asked = running[i] ?? 0; asked > 0; asked -= 1) if (await share.mayLeave()) left.push(i);
      for (const i of left) {
        running[i] = (running[i] ?? 0) - 1;
        shares[i]?.left('sub_1');
        // Another process takes it, whichever.
        const others = [...running.keys()].filter((other) => other !== i);
        const taker = others[Math.floor(random() * others.length)] ?? 0;
        running[taker] = (running[taker] ?? 0) + 1;
      }
      return left.length;
    }
    return { running, goOn };
  }

  async function leavingOf(share: ReturnType<typeof shareOf>): Promise<number> {
    const answers: boolean[] = [];
    for (let i = 0; i < 20; i += 1) answers.push(await share.mayLeave());
    return answers.filter(Boolean).length;
  }

  it('ends no more drains than the process has too many', async () => {
    const share = shareOf(20, async () => ({ underWay: 20, processes: 2, before: null }));
    expect(await leavingOf(share)).toBe(8);
    share.left('sub_1');
    expect(await leavingOf(share)).toBe(1);
  });

  it('ends none of a process that is alone, has its share or cannot see the others', async () => {
    expect(await leavingOf(shareOf(20, async () => ({ underWay: 20, processes: 1, before: null })))).toBe(0);
    expect(await leavingOf(shareOf(10, async () => ({ underWay: 20, processes: 2, before: null })))).toBe(0);
    const away = () => Promise.reject(new Error('away'));
    expect(await leavingOf(shareOf(20, away))).toBe(0);
  });

  it.each([
    [[3, 3, 3, 0]],
    [[2, 2, 2, 3]],
    [[3, 0]],
    [[2, 1, 0, 0]],
    [[22, 22, 22, 22, 22, 22, 22, 22, 24, 0]],
    [[100, 0, 0, 0, 0, 0]],
    [[3, 3, 3, 3, 3, 3, 3, 0, 0, 0]],
  ])('of drains %j leaves no process with two fewer than another, and then they stay', async (began) => {
    const { running, goOn } = createProcesses(began);
    for (let i = 0; i < 300; i += 1) await goOn();
    expect(Math.max(...running) - Math.min(...running), running.join(', ')).toBeLessThan(2);
    for (let i = 0; i < 100; i += 1) expect(await goOn()).toBe(0);
  });

  it('leaves what it has ended to others for a second', () => {
    let now = 0;
    const look = async () => ({ underWay: 20, processes: 2, before: null });
    const share = createFairShare({ running: () => 20, look, now: () => now });
    share.left('sub_1');
    expect([share.isForOthers('sub_1'), share.isForOthers('sub_2')]).toEqual([true, false]);
    now = 1_000;
    expect(share.isForOthers('sub_1')).toBe(false);
  });

  it('looks at the others once a second at most', async () => {
    let [now, looks] = [0, 0];
    const look = async () => {
      looks += 1;
      return { underWay: 1, processes: 2, before: null };
    };
    const share = createFairShare({ running: () => 1, look, now: () => now });
    for (now = 0; now < 3_000; now += 100) await share.mayLeave();
    expect(looks).toBe(3);
  });
});
