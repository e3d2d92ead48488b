import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import zapier from 'zapier-platform-core';
import { version } from '../src/version.ts';
import app from '../src/index.ts';

describe('the definition of the app', () => {
  it("passes Zapier's own validation", async () => {
    // What `zapier validate` runs; the types leave it out.
    const { createAppHandler } = zapier as unknown as {
      createAppHandler(app: object): (event: { command: 'validate' }) => Promise<{ results: unknown[] }>;
    };
    const { results } = await createAppHandler(app)({ command: 'validate' });
    assert.deepEqual(results, []);
  });

  it('has the version of the package', () => {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    assert.equal(version, (JSON.parse(text) as { version: string }).version);
  });
});
