import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { createInputCheck } from '../../../src/api/subscriptions/input.ts';

const ca = readFileSync(new URL('../callbacks/fixtures/callback-test-cert.pem', import.meta.url), 'utf8');

it('the certificates of requests that come at once are checked in turns of the event loop of their own', async () => {
  const url = 'https://hooks.example.com/';
  let turn = 0;
  const turns: number[] = [];
  const count = (): void => {
    turn += 1;
    if (turns.length < 20) setImmediate(count);
  };
  const check = createInputCheck({
    checkUrl: (text: string) => ({ ok: true, url: new URL(text) }),
    // Called in the turn in which the certificates of a request were checked.
    checkHost() {
      turns.push(turn);
      return Promise.resolve({ ok: true, url: new URL(url) });
    },
    snapshot: { counts: () => Promise.resolve({}) },
    maxInFlight: 10,
    now: Date.now,
  } as never);
  const request = (tls: object) =>
    ({ body: { url, tls }, params: { account: 'a' }, getDecorator: () => null }) as unknown as FastifyRequest;
  count();
  await Promise.all(Array.from({ length: 20 }, () => check(request({ ca }))));
  expect(new Set(turns).size).toBeGreaterThanOrEqual(20);
});
