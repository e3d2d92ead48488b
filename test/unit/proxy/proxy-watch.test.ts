import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProxyError, type ProxyReason } from '../../../src/proxy/proxy-error.ts';
import { createProxyWatch } from '../../../src/proxy/proxy-watch.ts';

const target = (name: string) => `${name}:443`;
const error = (reason: ProxyReason) => new ProxyError(reason);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function startWatch(probe: (authority: string | null) => ProxyReason | null = () => null) {
  const probes: (string | null)[] = [];
  const outages: (string | null)[] = [];
  const watch = createProxyWatch({
    random: () => 0,
    probe(authority) {
      probes.push(authority);
      const reason = probe(authority);
      return Promise.resolve(reason === null ? null : error(reason));
    },
    onOutage: (outage) => void outages.push(outage?.reason ?? null),
  });
  return { watch, probes, outages };
}

describe('an outage', () => {
  it('begins with trouble of the proxy itself, holds everything, and ends with a probe that succeeds', async () => {
    let works = false;
    const { watch, probes, outages } = startWatch(() => (works ? null : 'unreachable'));
    expect(watch.failed(target('a'), error('unreachable'))).toMatchObject({
      fault: 'proxy',
      retryAfterMs: 1_000,
    });
    expect(watch.enter(target('b'))).toMatchObject({ reason: 'unreachable', fault: 'proxy' });
    // 1, 2 and 4 seconds, then five each.
    await vi.advanceTimersByTimeAsync(21_000);
    expect(probes).toHaveLength(6);
    works = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([watch.outage(), watch.enter(target('b'))]).toEqual([null, null]);
    expect(outages).toEqual([...Array<string>(7).fill('unreachable'), null]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toHaveLength(7);
  });

  it('of an answer such as 407 begins where three endpoints get it, and probes ask for the last one', async () => {
    const { watch, probes, outages } = startWatch((authority) =>
      authority === 'good:443' ? null : 'credentials',
    );
    for (const name of ['a', 'a', 'b', 'a'])
      expect(watch.failed(target(name), error('credentials'))).toMatchObject({
        fault: 'proxy',
        retryAfterMs: 5_000,
      });
    expect(watch.outage()).toBeNull();
    expect(watch.failed(target('c'), error('credentials'))).toMatchObject({ retryAfterMs: 1_000 });
    await vi.advanceTimersByTimeAsync(1_500);
    expect(watch.enter(target('good'))).toMatchObject({ reason: 'credentials' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect([probes, watch.outage()]).toEqual([['c:443', 'good:443'], null]);
    expect(outages).toEqual(['credentials', 'credentials', null]);
    expect(watch.failed(target('c'), error('credentials'))).toMatchObject({ retryAfterMs: 5_000 });
  });

  it('ends when the proxy answers about an endpoint, and not when it stays silent', async () => {
    let answer: ProxyReason = 'silent';
    const { watch, outages } = startWatch(() => answer);
    watch.failed(null, error('unreachable'));
    watch.failed(target('a'), error('unreachable'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(outages.at(-1)).toBe('unreachable');
    answer = 'no_connection';
    await vi.advanceTimersByTimeAsync(5_000);
    expect(outages.at(-1)).toBeNull();
  });
});

describe('refusals', () => {
  it('are those of their endpoints, however many there are', async () => {
    const { watch, probes, outages } = startWatch();
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      expect(watch.failed(target(name), error('no_connection'))).toMatchObject({ fault: 'endpoint' });
    expect(watch.enter(target('f'))).toBeNull();
    expect([probes, outages]).toEqual([[], []]);
  });
});
