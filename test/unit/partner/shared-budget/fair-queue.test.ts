import { describe, expect, it } from 'vitest';
import { createFairQueue, type Urgency } from '../../../../src/partner/shared-budget/fair-queue.ts';

function queueOf(...requests: readonly (readonly [account: string, urgency: Urgency, name: string])[]) {
  const queue = createFairQueue<string>();
  for (const request of requests) queue.add(...request);
  return queue;
}

describe('the queue for turns', () => {
  it('goes round the accounts, however many requests one has', () => {
    const queue = queueOf(
      ['a', 'change', 'a1'],
      ['a', 'change', 'a2'],
      ['a', 'change', 'a3'],
      ['b', 'change', 'b1'],
      ['c', 'change', 'c1'],
      ['c', 'change', 'c2'],
    );
    expect(queue.accounts('change')).toBe(3);
    const order = Array.from({ length: 7 }, () => queue.next('change'));
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', null]);
  });

  it('lets an account that comes back wait for all others', () => {
    const queue = queueOf(['a', 'change', 'a1'], ['b', 'change', 'b1'], ['c', 'change', 'c1']);
    expect(queue.next('change')).toBe('a1');
    queue.add('a', 'change', 'a2');
    expect(['b1', 'c1', 'a2']).toEqual([queue.next('change'), queue.next('change'), queue.next('change')]);
  });

  it('gives the turns of changes to sweeps only when nothing else waits', () => {
    const queue = queueOf(['a', 'sweep', 's1'], ['b', 'change', 'b1'], ['b', 'change', 'b2']);
    const order = Array.from({ length: 4 }, () => queue.next('change'));
    expect(order).toEqual(['b1', 'b2', 's1', null]);
  });

  it('gives the turns of sweeps to sweeps, and to others without one', () => {
    const queue = queueOf(['a', 'sweep', 's1'], ['b', 'change', 'b1']);
    expect([queue.next('sweep'), queue.next('sweep'), queue.next('sweep')]).toEqual(['s1', 'b1', null]);
  });

  it('puts people first, but not twice in a row while changes wait', () => {
    const queue = queueOf(
      ['a', 'change', 'c1'],
      ['a', 'change', 'c2'],
      ['b', 'person', 'p1'],
      ['b', 'person', 'p2'],
      ['c', 'person', 'p3'],
    );
    expect(queue.hasPerson()).toBe(true);
    const order = Array.from({ length: 5 }, () => queue.next('change'));
    expect(order).toEqual(['p1', 'c1', 'p3', 'c2', 'p2']);
    expect(queue.hasPerson()).toBe(false);
  });

  it('forgets a request that is taken out, wherever it stands', () => {
    const queue = queueOf(['a', 'change', 'a1']);
    const remove = queue.add('a', 'change', 'a2');
    const removeOnly = queue.add('b', 'sweep', 'b1');
    queue.add('a', 'change', 'a3');
    remove();
    removeOnly();
    remove();
    expect([queue.requests('change'), queue.requests('sweep'), queue.accounts('sweep')]).toEqual([2, 0, 0]);
    expect([queue.next('change'), queue.next('change'), queue.next('change')]).toEqual(['a1', 'a3', null]);
  });
});
