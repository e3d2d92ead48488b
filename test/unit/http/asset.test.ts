import { expect, test } from 'vitest';
import { createLateAsset } from '../../../src/http/asset.ts';

test('an asset is made once for all that ask, and all get the same buffers', async () => {
  let made = 0;
  const { read } = createLateAsset('/a.js', () => {
    made += 1;
    return { type: 'text/javascript', body: 'x'.repeat(10_000) };
  });
  const [first, ...others] = await Promise.all(Array.from({ length: 20 }, read));
  expect(made).toBe(1);
  for (const { body, gzipped } of [...others, await read()]) {
    expect(body).toBe(first?.body);
    expect(gzipped).toBe(first?.gzipped);
  }
});

test('an asset that could not be made is made with the next request', async () => {
  let tries = 0;
  const { read } = createLateAsset('/a.js', async () => {
    tries += 1;
    if (tries === 1) throw new Error('not yet');
    return { type: 'text/javascript', body: 'x' };
  });
  await expect(read()).rejects.toThrow('not yet');
  expect(String((await read()).body)).toBe('x');
});
