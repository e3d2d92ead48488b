import { describe, expect, test } from 'vitest';
import { missingFixes } from '../../../src/monitoring/node-security.ts';
import { readText } from '../docs/documents.ts';

describe('missingFixes', () => {
  test.each(['24.21.0', '24.22.0', '26.12.0', '22.23.3', '25.9.0', '20.20.2'])('%s lacks some', (version) => {
    expect(missingFixes(version)).toMatch(
      new RegExp(
        `^Node\\.js ${version.replaceAll('.', '\\.')} lacks the security fixes of 2026-10-21 .*24\\.22\\.1`,
      ),
    );
  });

  test.each(['24.22.1', '24.22.3', '24.30.0', '26.12.1', '22.24.0', '27.0.0', '28.1.0-nightly'])(
    '%s has all that are known',
    (version) => {
      expect(missingFixes(version)).toBeNull();
    },
  );

  test('the pinned version has all that are known', () => {
    expect(missingFixes(readText('.node-version').trim())).toBeNull();
  });
});
