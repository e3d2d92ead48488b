import { expect, it } from 'vitest';
import { createWorkTally } from '../../../src/monitoring/work-tally.ts';

const minute = 60_000;

function atTime(busyFrom: number) {
  let time = 0;
  const tally = createWorkTally({ busyFrom, requestMs: 0, now: () => time });
  return {
    ...tally,
    /** Begins a job and returns the function that ends it. */
    start() {
      const job = Promise.withResolvers<void>();
      const ended = tally.counted(() => job.promise);
      return async () => {
        job.resolve();
        await ended;
      };
    },
    pass: (ms: number) => void (time += ms),
  };
}

it('has moved when work was begun since it was last asked', async () => {
  const { start, read } = atTime(10);
  await start()();
  expect(read()).toEqual({ moved: true, skipped: 0, underWay: 0, hangs: false });
  expect(read()).toMatchObject({ moved: false });
});

it('moves while every place is taken and the work gets on', () => {
  const { start, gotOn, read, pass } = atTime(2);
  start();
  read();
  expect(read()).toMatchObject({ moved: false, underWay: 1 });
  start();
  read();
  for (let i = 0; i < 10; i += 1) {
    pass(1.5 * minute);
    gotOn();
    expect(read()).toMatchObject({ moved: true, underWay: 2, hangs: false });
  }
  pass(2.5 * minute);
  expect(read()).toMatchObject({ moved: false, underWay: 2, hangs: true });
  gotOn();
  expect(read()).toMatchObject({ moved: true, hangs: false });
});

it('counts from the start of the work, not from an idle time before it', () => {
  const { start, read, pass } = atTime(1);
  pass(100 * minute);
  start();
  expect(read()).toMatchObject({ moved: true, hangs: false });
});

it('counts what was skipped since it was last asked, which moves nothing', () => {
  const { skipped, read } = atTime(1);
  skipped();
  skipped();
  expect(read()).toMatchObject({ moved: false, skipped: 2 });
  expect(read()).toMatchObject({ skipped: 0 });
});
