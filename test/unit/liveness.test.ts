import { expect, it } from 'vitest';
import { createLiveness } from '../../src/liveness.ts';

const minute = 60_000;

function atTime() {
  let time = 0;
  const liveness = createLiveness(() => time);
  return { ...liveness, pass: (ms: number) => void (time += ms) };
}

it('is live for as long as nothing is polled', () => {
  const { pass, check } = atTime();
  pass(100 * minute);
  expect(check()).toEqual({ live: true, reasons: [] });
});

it('is not live once polls under way have not got on for half an hour, until one does', () => {
  const { pass, check, pollStarted, pollEnded } = atTime();
  pollStarted();
  pollStarted();
  pass(31 * minute);
  expect(check().live).toBe(false);
  expect(check().reasons).toHaveLength(1);
  pollEnded();
  expect(check().live).toBe(true);
});

it('is live however long one poll takes, while its requests come to an end', () => {
  const { pass, check, pollStarted, requestEnded } = atTime();
  pollStarted();
  for (let i = 0; i < 10; i += 1) {
    pass(20 * minute);
    requestEnded();
  }
  pass(29 * minute);
  expect(check().live).toBe(true);
  pass(2 * minute);
  expect(check().live).toBe(false);
});

it('counts from the start of the poll, not from an idle time before it', () => {
  const { pass, check, pollStarted } = atTime();
  pass(100 * minute);
  pollStarted();
  expect(check().live).toBe(true);
});
