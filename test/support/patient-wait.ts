import { vi } from 'vitest';

// A condition that takes a second by itself needs more than the default of one, as with `expect.poll`.
const timeoutMs = 10_000;

const { waitFor } = vi;

/** `vi.waitFor` as every test file with a Redis has it: without a time of its own it waits for ten seconds. */
vi.waitFor = (callback, options = timeoutMs) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: timeoutMs, ...options });
