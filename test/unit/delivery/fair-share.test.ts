import { describe, expect, it } from 'vitest';
import { createFairShare, fairShareOf, type DrainsOfAll } from '../../../src/delivery/fair-share.ts';

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

describe('createFairShare', () => {
  function shareOf(running: number, look: () => Promise<DrainsOfAll>) {
    return createFairShare({ running: () => running, look, now: () => 0 });
  }

  async function leavingOf(share: ReturnType<typeof shareOf>): Promise<number> {
    const answers: boolean[] = [];
    for (let i = 0; i < 20; i += 1) answers.push(await share.mayLeave());
    return answers.filter(Boolean).length;
  }

  it('ends no more drains than the process has too many', async () => {
    const share = shareOf(20, async () => ({ underWay: 20, processes: 2 }));
    expect(await leavingOf(share)).toBe(8);
    share.left('sub_1');
    expect(await leavingOf(share)).toBe(1);
  });

  it('ends none of a process that is alone, has its share or cannot see the others', async () => {
    expect(await leavingOf(shareOf(20, async () => ({ underWay: 20, processes: 1 })))).toBe(0);
    expect(await leavingOf(shareOf(10, async () => ({ underWay: 20, processes: 2 })))).toBe(0);
    const away = () => Promise.reject(new Error('away'));
    expect(await leavingOf(shareOf(20, away))).toBe(0);
  });

  it('leaves what it has ended to others for a second', () => {
    let now = 0;
    const look = async () => ({ underWay: 20, processes: 2 });
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
      return { underWay: 1, processes: 2 };
    };
    const share = createFairShare({ running: () => 1, look, now: () => now });
    for (now = 0; now < 3_000; now += 100) await share.mayLeave();
    expect(looks).toBe(3);
  });
});
