import { describe, expect, it } from 'vitest';
import {
  createFaultInjector,
  faultsConcern,
  faultsHit,
  planFault,
} from '../../../../src/sandbox/faults/faults.ts';

const facts = { endpoint: 'filings', owner: 'default' } as const;
const always = () => 0;

describe('which requests faults concern', () => {
  it.each([
    [{}, true],
    [{ endpoints: ['filings' as const] }, true],
    [{ endpoints: ['filing' as const] }, false],
    [{ owners: ['default'] }, true],
    [{ owners: ['second'] }, false],
    [{ endpoints: ['filings' as const], owners: ['second'] }, false],
  ])('%o: %o', (faults, expected) => {
    expect(faultsConcern(faults, facts)).toBe(expected);
  });

  it('those of an owner do not concern a request without a valid key', () => {
    expect(faultsConcern({ owners: ['default'] }, { endpoint: 'me', owner: undefined })).toBe(false);
  });

  it.each([
    [{}, [1, 2, 3, 4]],
    [{ after: 2 }, [3, 4]],
    [{ times: 1 }, [1]],
    [{ after: 1, times: 2 }, [2, 3]],
  ])('%o hits the requests %o of four', (faults, hit) => {
    expect([1, 2, 3, 4].filter((n) => faultsHit(faults, n))).toEqual(hit);
  });
});

describe('what happens to a request', () => {
  it.each([
    [{}, { kind: 'none' }],
    [
      { errorRate: 1 },
      { kind: 'answer', status: 500, headers: { 'content-type': 'application/json; charset=utf-8' } },
    ],
    [
      { errorRate: 1, errorStatuses: [418], errorBody: 'html' as const },
      { kind: 'answer', status: 418, headers: { 'content-type': 'text/html' } },
    ],
    [{ hangRate: 1, errorRate: 1 }, { kind: 'hang' }],
    [
      { htmlRate: 1, cutRate: 1 },
      { kind: 'answer', status: 200, headers: { 'content-type': 'text/html' } },
    ],
    [{ cutRate: 1 }, { kind: 'cut', how: 'connection' }],
    [
      { cutRate: 1, cut: 'json' as const },
      { kind: 'cut', how: 'json' },
    ],
    [
      { authFailure: 403 as const, hangRate: 1 },
      { kind: 'answer', status: 403, headers: { 'content-type': 'application/json; charset=utf-8' } },
    ],
  ])('%o: %o', (faults, outcome) => {
    expect(planFault(faults, undefined, always).outcome).toMatchObject(outcome);
  });

  it('an exceeded rate comes before errors', () => {
    expect(planFault({ errorRate: 1 }, '7', always).outcome).toMatchObject({
      kind: 'answer',
      status: 429,
      headers: { 'retry-after': '7' },
    });
  });

  it('a rate of 0 never happens, and a rate is a probability', () => {
    expect(planFault({ errorRate: 0 }, undefined, always).outcome.kind).toBe('none');
    expect(planFault({ errorRate: 0.5 }, undefined, () => 0.5).outcome.kind).toBe('none');
    expect(planFault({ errorRate: 0.5 }, undefined, () => 0.49).outcome.kind).toBe('answer');
  });

  it('latency is fixed or drawn from a range', () => {
    expect(planFault({ latencyMs: 40 }, undefined, always).latencyMs).toBe(40);
    expect(planFault({ latencyMs: { min: 10, max: 20 } }, undefined, () => 0.999).latencyMs).toBe(20);
  });
});

describe('the rate limit', () => {
  it('lets so many through per window and says how long the window still lasts', () => {
    let nowMs = 10_000;
    const injector = createFaultInjector({ now: () => nowMs, random: always });
    injector.set({ rateLimit: { requests: 2, windowMs: 5_000 } });
    const next = () => injector.plan(facts).outcome;
    expect([next(), next()]).toEqual([{ kind: 'none' }, { kind: 'none' }]);
    nowMs += 1_500;
    expect(next()).toMatchObject({ status: 429, headers: { 'retry-after': '4' } });
    nowMs += 3_500;
    expect(next()).toEqual({ kind: 'none' });
  });
});
